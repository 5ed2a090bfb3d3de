"""Whatever a receiver answers, little of it is read, not for long, and in a thread that does nothing else."""

import asyncio
import threading
from typing import Any

import h11
import pytest

from app.tables.deliveries import ClaimedDelivery, Delivery
from app.webhooks.own_thread import run_in_own_thread
from app.webhooks.sender import MOST_BYTES, MOST_INTERIM, Sender
from app.webhooks.url_policy import UrlPolicy
from tests.people import people, running_site
from tests.receiver import FLOODS, receiving

LOCAL = ("127.0.0.0/8",)
BUFFERS = 8_000_000  # what fits into the sockets between the two


def claimed(url: str) -> ClaimedDelivery:
    return ClaimedDelivery(Delivery("h", "msg_1", "ping", '{"id":"msg_1"}'), url, "whsec_QUJD")


class Counting(h11.Connection):
    """Keeps account of what is read of an answer."""

    def __init__(self, role: type[h11.CLIENT]) -> None:
        super().__init__(role)
        self.size = self.interim = 0
        MADE.append(self)

    def receive_data(self, data: bytes) -> None:
        self.size += len(data)
        super().receive_data(data)

    def next_event(self) -> Any:
        event = super().next_event()
        self.interim += isinstance(event, h11.InformationalResponse)
        return event


MADE: list[Counting] = []


@pytest.mark.parametrize("flood", FLOODS)
async def test_of_an_answer_without_end_little_is_read(flood: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(h11, "Connection", Counting)
    MADE.clear()
    async with receiving(flood) as server:
        result = await Sender(UrlPolicy(LOCAL)).send(claimed(server.url))
        assert server.sent < BUFFERS
    expected = {"endless": (200, "200"), "noise": (None, "no_connection")}
    assert result == expected.get(flood, (None, "too_long"))
    [read] = MADE
    assert 0 < read.size <= MOST_BYTES
    assert read.interim <= MOST_INTERIM + 1


async def test_an_answer_that_comes_byte_by_byte_is_not_waited_for() -> None:
    async with receiving("drip") as server:
        assert await Sender(UrlPolicy(LOCAL), seconds=0.5).send(claimed(server.url)) == (None, "timeout")


async def test_an_answer_after_a_few_interim_ones_counts() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n" + b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * (MOST_INTERIM - 1))
        writer.write(b"HTTP/1.1 204 No Content\r\nX-Long: " + b"x" * (MOST_BYTES // 2) + b"\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        assert await Sender(UrlPolicy(LOCAL)).send(claimed(f"http://127.0.0.1:{port}/")) == (204, "204")


# --- a thread of its own --------------------------------------------------------------------------------------------------


async def test_work_runs_in_a_thread_of_its_own_and_what_it_raises_is_raised() -> None:
    seen: list[threading.Thread] = []

    async def work() -> None:
        seen.append(threading.current_thread())
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        await run_in_own_thread("webhooks", work)
    assert seen[0] is not threading.current_thread()
    assert seen[0].name == "webhooks"


async def test_a_cancellation_ends_the_work_and_waits_until_it_has_tidied_up() -> None:
    begun, tidied = threading.Event(), threading.Event()

    async def work() -> None:
        try:
            begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0.01)
            tidied.set()

    task = asyncio.create_task(run_in_own_thread("webhooks", work))
    await asyncio.to_thread(begun.wait)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert tidied.is_set()


async def test_what_blocks_in_that_thread_does_not_block_this_one() -> None:
    release, blocked = threading.Event(), threading.Event()

    async def work() -> None:
        blocked.set()
        release.wait()

    task = asyncio.create_task(run_in_own_thread("webhooks", work))
    await asyncio.to_thread(blocked.wait)
    release.set()  # which this loop could not do if it were blocked
    await task


async def test_a_site_sends_in_a_thread_of_its_own(redis_url: str, database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: set[str] = set()
    send = Sender.send

    async def spy(self: Sender, claimed: ClaimedDelivery) -> tuple[int | None, str]:
        threads.add(threading.current_thread().name)
        return await send(self, claimed)

    monkeypatch.setattr(Sender, "send", spy)
    async with (
        running_site(redis_url, database_url, hooks_inside=LOCAL) as site,
        receiving("interim") as server,
        people(site.url, "Nina") as [nina],
    ):
        made = await nina.post("/me/hooks", {"url": server.url, "events": ["turn_due"]}, 201)
        await nina.post(f"/me/hooks/{made['id']}/test", status=202)
        await server.have(1)
    assert threads == {"webhooks"}
