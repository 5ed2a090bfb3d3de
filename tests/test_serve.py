"""`coinche serve` as an operator meets it."""

import asyncio
import os
import re
import signal
import socket
from http import HTTPStatus
from pathlib import Path

import httpx
import pytest

from app import cli
from app.embedded import running
from app.launch import NOBODY
from app.settings import Settings
from tests.people import open_table, person
from tests.serving import PATIENCE, leave_zeros, processes_of, refusal, serving, settled, start


def test_it_says_where_it_is_and_answers_there(tmp_path: Path) -> None:
    with serving(tmp_path) as coinche:
        assert httpx.get(f"{coinche.url}/health/live", timeout=PATIENCE).status_code == HTTPStatus.OK
        assert "Traceback" not in coinche.stop(signal.SIGTERM)


@pytest.mark.parametrize("way", [signal.SIGINT, signal.SIGTERM])
def test_asked_to_stop_it_stops_everything(tmp_path: Path, way: signal.Signals) -> None:
    with serving(tmp_path) as coinche:
        assert processes_of(tmp_path)
        last_words = coinche.stop(way)
        assert coinche.process.returncode == 0
        assert last_words.splitlines()[-1] == "coinche has stopped; games are kept."
        assert processes_of(tmp_path) == []


def test_killed_it_leaves_no_server_behind_and_starts_again(tmp_path: Path) -> None:
    with serving(tmp_path) as coinche:
        coinche.stop(signal.SIGKILL)
    assert settled(tmp_path) == []
    with serving(tmp_path) as coinche:
        assert httpx.get(f"{coinche.url}/health/live", timeout=PATIENCE).status_code == HTTPStatus.OK


def test_a_second_one_on_the_same_games_says_so(tmp_path: Path) -> None:
    with serving(tmp_path):
        code, said = refusal(tmp_path)
    assert code == 1
    assert said.splitlines() == [
        f"{tmp_path} is in use by another coinche: stop that one, or choose another folder with COINCHE_DATA."
    ]


def test_a_taken_port_is_said_before_anything_starts(tmp_path: Path, taken_port: int) -> None:
    code, said = refusal(tmp_path, COINCHE_PORT=str(taken_port))
    assert code == 1
    assert said.splitlines() == [
        f"Port {taken_port} is taken: stop what uses it, or choose another: COINCHE_PORT={taken_port + 1}"
    ]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("COINCHE_PORT", "eight"),
        ("COINCHE_PORT", "99999"),
        ("COINCHE_LOG_LEVEL", "loud"),
        ("COINCHE_HOST", "203.0.113.9"),
        ("DATABASE_URL", "mysql://localhost/coinche"),
        ("DATABASE_URL", "postgresql://127.0.0.1:1/coinche"),
        ("REDIS_URL", "redis://127.0.0.1:1"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named_in_one_line(tmp_path: Path, name: str, value: str) -> None:
    code, said = refusal(tmp_path, **{name: value})
    assert code == 1
    assert len(said.splitlines()) == 1
    assert name in said


@pytest.mark.parametrize(
    ("name", "value", "right"),
    [
        ("COINCHE_ORIGINS", "https://a.example.org,coinche.example.org", "https://coinche.example.org"),
        ("COINCHE_ORIGINS", "https://coinche.example.org/coinche", "https://coinche.example.org"),
        ("COINCHE_URL", "example.org", "https://example.org"),
        ("COINCHE_URL", "https://example.org/static", "https://example.org/coinche"),
        ("COINCHE_CORS", "club.example.org", "https://club.example.org"),
    ],
)
def test_an_address_that_can_never_match_is_refused_with_its_right_spelling(
    tmp_path: Path, name: str, value: str, right: str
) -> None:
    code, said = refusal(tmp_path, **{name: value})
    assert (code, len(said.splitlines())) == (1, 1)
    assert said.startswith(f"{name}={value}: ")
    assert said.rstrip().endswith(right)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("is_dual", [True, False])
def test_only_addresses_that_answer_are_announced(capsys: pytest.CaptureFixture[str], is_dual: bool) -> None:
    """Of IPv6 alone, where the machine has it so, or of both."""
    try:
        listener = socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=is_dual)
    except OSError:  # a machine without IPv6 has nothing to announce: coinche says so
        with pytest.raises(ValueError, match="COINCHE_HOST=::"):
            cli._listen("::", 0)
        return
    with listener:
        cli._announce(Settings(host="::"), listener)
        urls = re.findall(r"http://(\S+):\d+/", capsys.readouterr().out)
        assert urls
        for host in urls:
            assert (":" in host) is not is_dual
            assert host.startswith("[") is (":" in host)
            socket.create_connection((host.strip("[]"), listener.getsockname()[1]), PATIENCE).close()


def test_all_interfaces_of_both_families_are_listened_to() -> None:
    try:
        listener = cli._listen("::", 0)
    except ValueError:
        assert not socket.has_dualstack_ipv6()
        return
    with listener:
        assert bool(listener.getsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY)) is not socket.has_dualstack_ipv6()


def test_phones_are_told_an_address_when_others_are_let_in(tmp_path: Path) -> None:
    with serving(tmp_path, COINCHE_HOST="0.0.0.0") as coinche:
        assert coinche.url.startswith("http://127.0.0.1:")


@pytest.mark.parametrize("processes", ["1", "2"])
def test_a_server_of_its_own_that_cannot_be_had_again_ends_it_with_an_error(tmp_path: Path, processes: str) -> None:
    with serving(tmp_path, "serve", "--processes", processes, module="tests.impatient") as coinche:
        leave_zeros(tmp_path)
        os.kill(int((tmp_path / "valkey/pid").read_text()), signal.SIGKILL)
        *_, last = coinche.rest().splitlines()
        assert coinche.process.returncode == 1
    assert last.startswith("Valkey has died, and cannot be started again: Valkey cannot read what it has kept")
    assert settled(tmp_path) == []


def test_a_process_that_ends_by_a_fault_of_its_own_says_so_and_ends_with_an_error(tmp_path: Path) -> None:
    with serving(tmp_path, module="tests.faulty") as coinche:
        said = coinche.rest()
        assert coinche.process.returncode == 1
    assert "ZeroDivisionError" in said
    assert said.splitlines()[-1].startswith("coinche has ended by a fault of its own")
    assert processes_of(tmp_path) == []


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_without_namespaces_a_folder_only_its_owner_may_enter_is_enough(tmp_path: Path, end: signal.Signals) -> None:
    """Below the home of root, say; Postgres then runs as nobody, for it refuses root."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    with serving(home / "data", module="tests.without_namespaces") as coinche:
        ready = httpx.get(f"{coinche.url}/health/ready", timeout=PATIENCE)
        assert ready.json()["stores"] == {"redis": True, "postgres": True}
        postgres = int((home / "data/postgres/pid").read_text())
        assert Path(f"/proc/{postgres}").stat().st_uid == (NOBODY if os.geteuid() == 0 else os.geteuid())
        coinche.stop(end)
    assert settled(home) == []


def test_told_to_end_while_nobody_listens_it_ends_as_soon_as_it_has_started(tmp_path: Path) -> None:
    with start(tmp_path, module="tests.deaf") as process:
        try:
            said, _ = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
    assert process.returncode == 0, said
    assert said.splitlines() == ["coinche has stopped; games are kept."]
    assert settled(tmp_path) == []


def test_what_a_power_cut_has_left_is_repaired_and_nothing_is_thrown_away(tmp_path: Path) -> None:
    assert refusal(tmp_path, "token", "--admin", "Nina")[0] == 0
    leave_zeros(tmp_path)
    code, said = refusal(tmp_path)
    assert (code, "run `coinche repair`" in said, said.count("\n")) == (1, True, 1)
    code, said = refusal(tmp_path, "repair")
    [copy] = (tmp_path / "valkey").glob("appendonlydir.before-*")
    assert code == 0
    assert said == (
        f"What was there is kept in {copy}.\n"
        "appendonly.aof.1.incr.aof is cut after its last whole command: "
        "4096 bytes are left out, zeros, as a power cut leaves them.\n"
        "Valkey starts on it.\n"
    )
    assert (copy / "appendonly.aof.1.incr.aof").read_bytes().endswith(bytes(4096))
    assert "Nina" in refusal(tmp_path, "token", "--list")[1]
    assert refusal(tmp_path, "repair") == (0, "Nothing has to be repaired.\nValkey starts on it.\n")


def test_repair_leaves_a_valkey_of_ones_own_and_one_that_runs_alone(tmp_path: Path) -> None:
    code, said = refusal(tmp_path, "repair", REDIS_URL="redis://example.invalid")
    assert (code, "valkey-check-aof" in said) == (1, True)
    with running(tmp_path, None, "postgresql://unused"):
        code, said = refusal(tmp_path, "repair")
    assert (code, "in use by another coinche" in said) == (1, True)


async def test_what_goes_on_over_http_ends_with_a_goodbye_and_no_trace(tmp_path: Path) -> None:
    with serving(tmp_path) as coinche:
        async with person(coinche.url, "Nina") as nina:
            events = f"/api/v1/tables/{await open_table(nina)}/events"
            async with nina.http.stream("GET", events, headers={"Accept": "text/event-stream"}) as answer:
                heard = answer.aiter_text()
                assert "event: welcome" in await anext(heard)
                coinche.process.send_signal(signal.SIGTERM)
                assert "event: bye" in "".join([text async for text in heard])
        said = await asyncio.to_thread(coinche.rest)
        assert (said, coinche.process.returncode) == ("coinche has stopped; games are kept.\n", 0)
