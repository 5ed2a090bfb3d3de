"""The post office: makes mail of what there is to tell, and has it carried. Any number of them may work side by side."""

import asyncio
import hashlib
from collections.abc import Sequence

import structlog

from app import metrics
from app.game.refusal import Refused
from app.post.carrier import SECONDS, Carrier
from app.tables.notices import heard_as, key_of
from app.tables.post import WAITS, Letter, Mail, Postbox, Stamped, outcome
from app.tables.tasks import heed
from app.wire.hooks import body_of

LOOK_SECONDS = 0.5
AWAY_SECONDS = 2.0
"""How long it waits before it asks a store again that did not answer."""

LEASE_MS = int(SECONDS * 1000) + 10_000
"""How long an attempt may take before another office may make it again."""

AT_ONCE = 100
"""So many attempts are under way at once in one process, each for another hook."""

_log = structlog.get_logger()


class Office:
    """Tells hooks what happens. Nothing waits for it: what it cannot do it does later."""

    def __init__(self, box: Postbox, carrier: Carrier, base: str = "", waits: Sequence[float] = WAITS) -> None:
        self._box = box
        self._carrier = carrier
        self._base = base
        self._waits = waits
        self._under_way: set[asyncio.Task[None]] = set()
        self._call = asyncio.Event()

    async def run(self) -> None:
        """Work until cancelled. Mail that is under way then comes back when its lease has run out."""
        async with asyncio.TaskGroup() as group:
            while True:
                heed()
                self._call.clear()
                try:
                    await self._claim(group)
                    await self._tell()
                except Refused:
                    await asyncio.sleep(AWAY_SECONDS)
                except Exception:
                    _log.exception("the post cannot be sorted")
                    await asyncio.sleep(AWAY_SECONDS)
                else:
                    await self._wait()

    async def _wait(self) -> None:
        """Until it is time to look, or a hook that has been served may have more waiting."""
        try:
            async with asyncio.timeout(LOOK_SECONDS):
                await self._call.wait()
        except TimeoutError:
            return

    async def _tell(self) -> None:
        """Make letters of some notices. One that cannot be told stays, and stops no other."""
        wrong: Exception | None = None
        for stamped in await self._box.notices():
            try:
                letters = [self._letter(hook, stamped) for hook in await self._box.hearing(stamped.notice)]
                await self._box.post(letters, stamped.at)
                await self._box.told(stamped)
            except Refused:
                raise
            except Exception as error:
                wrong = error
            else:
                self._call.set()
        if wrong is not None:
            raise wrong

    def _letter(self, hook: str, stamped: Stamped) -> Letter:
        """Its id is the same whichever office writes it."""
        name = "msg_" + hashlib.sha256(f"{hook} {key_of(stamped.notice)}".encode()).hexdigest()[:24]
        body = body_of(name, stamped.notice, stamped.at, self._base)
        return Letter(hook, name, heard_as(stamped.notice).value, body)

    async def _claim(self, group: asyncio.TaskGroup) -> None:
        free = AT_ONCE - len(self._under_way)
        for mail in await self._box.claim(LEASE_MS, free) if free else ():
            task = group.create_task(self._carry(mail))
            self._under_way.add(task)
            task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._under_way.discard(task)
        self._call.set()

    async def _carry(self, mail: Mail) -> None:
        try:
            status, result = await self._carrier.carry(mail)
            came_of = outcome(mail, status, result, self._waits)
            await self._box.settle(mail, came_of)
            metrics.hook_mail.labels(came_of.fate.value).inc()
        except Refused:
            pass  # the store is away; the lease runs out, and the mail comes again
        except Exception:
            _log.exception("mail could not be carried", hook=mail.letter.hook, letter=mail.letter.id)
