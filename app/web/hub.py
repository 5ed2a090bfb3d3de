"""Who in this process follows which table, and what each of them is sent.

A room keeps one table's connections. Each step is written once for each kind of viewer, never once for each socket.
"""

import asyncio
import secrets
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

import structlog

from app import metrics
from app.game.refusal import Refused, Why
from app.game.view import Viewer
from app.tables.mirror import End, Mirror
from app.tables.play import Tables
from app.tables.ports import Bell, Clock, Company, Entry, Lobby, NewerFormat
from app.tables.presence import HostWatch
from app.tables.table import Person, TableEvent
from app.tables.tasks import KeyedWorkers, heed
from app.tables.tokens import Voided
from app.web.visit import Visit
from app.wire import messages

LOOK_SECONDS = 3.0
"""How often a room looks into the book by itself, for a bell can be lost."""

HERE_EVERY = 3
"""Each so many looks the room says again who is here."""

BYE_SPREAD_MS = 2_000
"""Over how long the guests of a process that goes are spread, so that they do not all arrive elsewhere at once."""

AWAY_SECONDS = 0.5
"""How long a room that has to be welcomed again waits for a store that is away."""

ROOMS_AT_ONCE = 64
"""In so many rooms something is looked up at the same time, so that none waits while the store answers for another."""

MOST_STREAMS = 30
"""So many streams over HTTP one asker may hold in a process."""

GRACE_SECONDS = 20
"""How long a process that goes waits for its guests."""

Errand = Literal["entry", "presence", "look", "look_and_stay"]
"""Why a room is attended to: a bell rang, for an entry or for who is there; it is time to look, or also to say who is here."""

MOST_FRAMES = 64
MOST_BYTES = 128 * 1024

_log = structlog.get_logger()


class Outbox:
    """The frames that a socket has yet to send: bounded, so that one slow reader costs nobody else anything."""

    def __init__(self) -> None:
        self._frames: deque[str] = deque()
        self._bytes = 0
        self._news = asyncio.Event()
        self.full = asyncio.Event()
        """Set when something did not fit: a frame is missing, and the socket is to be closed."""

    def put(self, frame: str) -> None:
        """Add a frame, if it fits."""
        if self.full.is_set() or len(self._frames) >= MOST_FRAMES or self._bytes + len(frame) > MOST_BYTES:
            self.full.set()
            return
        self._frames.append(frame)
        self._bytes += len(frame)
        self._news.set()

    def __len__(self) -> int:
        return len(self._frames)

    async def take(self) -> str:
        """The next frame."""
        while not self._frames:
            self._news.clear()
            await self._news.wait()
        frame = self._frames.popleft()
        self._bytes -= len(frame)
        return frame


@dataclass(eq=False)
class Client:
    """One connection. `watching`: it wants the public view even if its person has a seat.

    `seen`: it counts among those who are at the table. `lingers`: and goes on counting for a while when it is gone.
    `is_socket`: it is no answer over HTTP.
    """

    id: str
    person: Person | None
    outbox: Outbox = field(default_factory=Outbox)
    watching: bool = False
    seen: bool = True
    lingers: bool = False
    is_socket: bool = False
    is_welcome: bool = False
    """Whether it has been sent the welcome of its room; until then it is sent nothing else."""

    def viewer(self, mirror: Mirror) -> Viewer:
        """Whose view this connection gets, as the seats are now."""
        if self.person is None or self.watching:
            return None
        return mirror.table.seat_of(self.person.id)


@dataclass(eq=False)
class Room:
    """The connections of one table in this process, and whom it tells that all of them must be welcomed again, or leave."""

    mirror: Mirror
    clock: Clock
    welcome_again: Callable[["Room"], None]
    send_away: Callable[["Room", End], None]
    clients: set[Client] = field(default_factory=set)
    """All that follow the table, or are about to."""
    present: tuple[str | None, ...] = ()
    host_watch: HostWatch = field(default_factory=HostWatch)

    @property
    def is_seen_in_the_lobby(self) -> bool:
        """Whether somebody is there, at a table that all may find."""
        return self.mirror.table.listed and any(client.seen for client in self.clients)

    @property
    def audience(self) -> list[Client]:
        return [client for client in self.clients if client.is_welcome]

    def on_entry(self, mirror: Mirror, entry: Entry) -> None:
        """Send everybody the step of an entry that has just been applied."""
        audience = self.audience
        if audience:
            writer = messages.StepWriter(mirror, entry, self.clock())
            for client in audience:
                client.outbox.put(writer.text(client.viewer(mirror)))
        if any(isinstance(event, TableEvent) for event in entry.events) or not mirror.table.is_playing:
            self.tell_table()

    def on_anew(self, mirror: Mirror) -> None:
        """What was sent may not have happened: nobody is sent anything more before a new welcome."""
        for client in self.clients:
            client.is_welcome = False
        self.welcome_again(self)

    def on_end(self, mirror: Mirror, why: End) -> None:
        """Send everybody elsewhere: to another process, or to learn there that the table is gone."""
        self.send_away(self, why)

    def tell_table(self) -> None:
        """Send everybody who sits, is ready, away, present."""
        self.send(messages.table_message(self.mirror.table, self.present))

    def send(self, frame: str) -> None:
        """Send everybody the same."""
        for client in self.audience:
            client.outbox.put(frame)


class Hub:
    """The rooms of this process."""

    def __init__(self, tables: Tables, bell: Bell, company: Company, clock: Clock, lobby: Lobby) -> None:
        self._tables = tables
        self._lobby = lobby
        self._bell = bell
        self._company = company
        self._clock = clock
        self._rooms: dict[str, Room] = {}
        self._to_welcome: asyncio.Queue[Room] = asyncio.Queue()
        self._workers = KeyedWorkers(self._attend, ROOMS_AT_ONCE)
        self.is_leaving = False
        self.on_leaving: Callable[[], None] = lambda: None
        self._nobody = asyncio.Event()
        self._nobody.set()
        self.clients: set[Client] = set()
        """Every open connection, in a room or not."""
        self._streams: Counter[str] = Counter()
        self.visits: set[Visit] = set()
        """All that are being answered."""

    async def run(self) -> None:
        """Hear the bells and look into the books until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._workers.run())
            group.create_task(self._hear())
            group.create_task(self._look())
            group.create_task(self._greet())

    async def join(self, client: Client, table: str) -> Room:
        """Follow a table and be sent its welcome. Raises `Refused`; then the client follows nothing new."""
        mirror = await self._tables.mirror(table)
        room = self._rooms.get(table)
        if room is None:
            room = self._rooms[table] = Room(mirror, self._clock, self._to_welcome.put_nowait, self._send_away)
            mirror.watchers.append(room)
            metrics.rooms.inc()
        room.clients.add(client)  # before anything is waited for, so that the last to leave does not close the room meanwhile
        try:
            await self._welcome(client, room)
        except BaseException:
            await self.leave(client, room)
            raise
        return room

    async def _welcome(self, client: Client, room: Room) -> None:
        table, person = room.mirror.table.id, None if client.person is None else client.person.id
        await self._bell.follow(table)
        await self._tables.catch_up(room.mirror)  # to what was written before the bell could be heard
        await self._say_here(client, table)
        if client.seen and room.mirror.table.listed:
            await self._lobby.touch([table])
        await self._look_around(room)
        talk = await self._company.talk(table)
        # From here to the end nothing waits: the next step that the client is sent follows its welcome.
        seat = client.viewer(room.mirror)
        welcome = messages.welcome_json(room.mirror, person, seat, self._clock(), room.present, talk)
        client.outbox.put(messages.text(welcome))
        client.is_welcome = True

    def enter(self, client: Client) -> None:
        """A connection is open. One that comes to a process that goes is sent on at once."""
        if self.is_leaving:
            client.outbox.put(messages.bye("going_away", 0))
        self.clients.add(client)
        metrics.connections.inc()
        self._nobody.clear()

    def exit(self, client: Client) -> None:
        """And closed."""
        self.clients.discard(client)
        metrics.connections.dec()
        if not self.clients:
            self._nobody.set()

    @contextmanager
    def stream(self, who: str) -> Iterator[None]:
        """One more stream of this asker, until the context ends. Raises `Refused` if that is one too many."""
        if self._streams[who] >= MOST_STREAMS:
            raise Refused(Why.TOO_FAST)
        self._streams[who] += 1
        try:
            yield
        finally:
            self._streams[who] -= 1
            if not self._streams[who]:
                del self._streams[who]

    @contextmanager
    def heeding(self, visit: Visit) -> Iterator[None]:
        """Until the context ends, the visit is told when its token is revoked."""
        self.visits.add(visit)
        try:
            yield
        finally:
            self.visits.discard(visit)

    async def see_off(self, alone: bool) -> None:
        """Tell everybody that this process goes, each with a delay of its own, and wait until they have gone elsewhere.

        `alone`: there is no elsewhere; they call again until somebody answers.
        """
        self.is_leaving = True
        self.on_leaving()
        for client in tuple(self.clients):
            if alone and client.is_socket:
                continue  # it is closed with the process; an answer over HTTP that goes on would be waited for
            client.outbox.put(messages.bye("going_away", secrets.randbelow(BYE_SPREAD_MS)))
        if alone:
            return
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                await self._nobody.wait()
        except TimeoutError:
            _log.warning("guests are still here", clients=len(self.clients))

    async def leave(self, client: Client, room: Room) -> None:
        """Follow the table no more; the last to leave a room closes it."""
        table = room.mirror.table.id
        client.is_welcome = False
        room.clients.discard(client)
        if not room.clients:
            self._close(room)
            if table not in self._rooms:
                with suppress(Refused):  # the store is away, and with it the bell
                    await self._bell.unfollow(table)
        if client.seen and not client.lingers:
            with suppress(Refused):  # presence fades by itself
                await self._company.gone(table, client.id, None if client.person is None else client.person.id)

    async def _say_here(self, client: Client, table: str) -> None:
        if client.seen:
            await self._company.here(table, client.id, None if client.person is None else client.person.id)

    def _close(self, room: Room) -> None:
        table = room.mirror.table.id
        if self._rooms.get(table) is room:
            del self._rooms[table]
            room.mirror.watchers.remove(room)
            metrics.rooms.dec()

    def _send_away(self, room: Room, why: End) -> None:
        self._close(room)
        for client in room.clients:
            client.is_welcome = False
            self.send_elsewhere(client, why)

    def send_elsewhere(self, client: Client, why: End = "newer_release") -> None:
        """Ask a connection to look for another process."""
        client.outbox.put(messages.bye(why, secrets.randbelow(BYE_SPREAD_MS)))

    async def _greet(self) -> None:
        """Welcome those again who were told what has not happened."""
        while True:
            room = await self._to_welcome.get()
            try:
                for client in tuple(room.clients):
                    if client in room.clients and not client.is_welcome:
                        await self._welcome(client, room)
            except NewerFormat:
                continue
            except Refused:
                await asyncio.sleep(AWAY_SECONDS)
                self._to_welcome.put_nowait(room)
            except Exception:
                _log.exception("room failed", table=room.mirror.table.id)

    async def _hear(self) -> None:
        async for rang in self._bell.rings():
            if isinstance(rang, Voided):
                self._void(rang)
                continue
            room = self._rooms.get(rang.table)
            if room is None:
                continue
            if rang.said is not None:
                room.send(messages.text(messages.said_json(rang.said)))
            elif rang.entry is None or not room.mirror.has(*rang.entry):  # or this process has added it itself
                self._workers.submit(rang.table, "presence" if rang.here else "entry")

    def _void(self, voided: Voided) -> None:
        for visit in self.visits:
            if visit.asker is not None and voided.hits(visit.asker):
                visit.void.set()

    async def _attend(self, table: str, reason: Errand) -> None:
        """See what has become of a table and of who is there, and tell the room."""
        room = self._rooms.get(table)
        if room is None:
            return
        try:
            if reason != "presence":
                await self._tables.catch_up(room.mirror)
            if reason == "look_and_stay":
                for client in tuple(room.clients):
                    await self._say_here(client, table)
            if reason != "entry":
                await self._look_around(room)
                await room.host_watch.look(self._tables, room.mirror, room.present, time.monotonic() * 1000)
        except (Refused, NewerFormat):
            pass  # the store is away, and the next look catches up; or the room is closed
        except Exception:
            _log.exception("room failed", table=table)

    async def _look(self) -> None:
        count = 0
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            heed()
            count += 1
            for table in self._rooms:
                self._workers.submit(table, "look_and_stay" if count % HERE_EVERY == 0 else "look")
            with suppress(Refused):  # the store is away
                await self._lobby.touch([table for table, room in self._rooms.items() if room.is_seen_in_the_lobby])

    async def _look_around(self, room: Room) -> None:
        present = tuple(await self._company.present(room.mirror.table.id))
        if sorted(map(str, present)) != sorted(map(str, room.present)):
            room.present = present
            room.tell_table()
