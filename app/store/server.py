"""How is the store reached? One server or a cluster, both asked in the same words, with the functions that this release brings.

What is read here of a URL:

- `redis://`, `rediss://` (TLS) and `unix://` name one server;
- `redis+cluster://` and `rediss+cluster://` name a cluster by any of its nodes: `redis+cluster://user:password@a:6379,b:6379`.
"""

import asyncio
import hashlib
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Self

import structlog
from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import ConnectionPool, SSLConnection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import (
    AskError,
    BusyLoadingError,
    ClusterError,
    MaxConnectionsError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    ResponseError,
    TryAgainError,
)
from redis.exceptions import ConnectionError as Unconnected
from redis.exceptions import TimeoutError as TimedOut

from app.game.refusal import Refused, Why
from app.tables.ports import Server

AWAY = (
    Unconnected,
    TimedOut,
    BusyLoadingError,
    RedisClusterException,
    ClusterError,
    ReadOnlyError,
    TryAgainError,
    AskError,
    OutOfMemoryError,
)
"""What is raised while a server is away, a cluster makes another node the first, or nothing can be written."""

_CANNOT_WRITE = ("NOREPLICAS", "MISCONF", "CLUSTERDOWN", "MASTERDOWN", "Script attempted to access a non local key")
"""The same, where the client has no name for it or a Function met it."""

_log = structlog.get_logger()

_CLUSTER = "+cluster://"
_FILES = ("functions", "tables", "people", "hooks")
_TEXT = "\n".join(Path(__file__).with_name(f"{name}.lua").read_text() for name in _FILES)

VERSION = hashlib.sha256(_TEXT.encode()).hexdigest()[:12]
"""Names the library of functions: two releases whose functions differ can share a store, and neither takes the other's away."""

_LIBRARY = _TEXT.replace("VERSION", VERSION)

_OPTIONS: dict[str, Any] = {"decode_responses": True, "encoding_errors": "replace", "health_check_interval": 10}
"""What is no UTF-8 is no text of ours, and must not stop what stands beside it."""

CROWD_SECONDS = 5.0
"""How long a question waits for others that are asked at the same time."""

CONFIRM_MS = 1_000
"""How long replicas may take to confirm an append."""


class Pool(ConnectionPool):
    """The connections to one server. Where all are taken one waits for the next, in the order in which one came."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._free = asyncio.Semaphore(self.max_connections)

    async def get_connection(self, *args: Any, **options: Any) -> Any:
        """One of them, connected."""
        try:
            async with asyncio.timeout(CROWD_SECONDS):
                await self._free.acquire()
        except TimeoutError:
            raise MaxConnectionsError("Too many connections") from None
        return await super().get_connection(*args, **options)  # type: ignore[no-untyped-call]  # which gives back what is of no use

    async def release(self, connection: Any) -> None:
        """Give one back."""
        try:
            await super().release(connection)
        finally:
            self._free.release()


class Cluster(RedisCluster):
    """A cluster of servers."""

    def __init__(self, nodes: Sequence[tuple[str, int]], **options: Any) -> None:
        super().__init__(startup_nodes=[ClusterNode(host, port) for host, port in nodes], **options)
        self._options = options

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        return self

    def one(self) -> Redis:
        """A client of one of its nodes: what is published reaches them all."""
        node: Any = random.choice(self.get_nodes())
        options = {name: value for name, value in self._options.items() if name != "ssl"}
        return Redis(host=node.host, port=node.port, ssl=bool(self._options.get("ssl")), retry=Retry(NoBackoff(), 0), **options)

    async def _determine_slot(self, command: str, *args: Any) -> int:
        """The client would ask a server for the keys of each call."""
        if command in ("FCALL", "FCALL_RO"):
            return int(self.keyslot(args[2]))
        return int(await super()._determine_slot(command, *args))

    async def _execute_command(self, target_node: ClusterNode, *args: Any, **options: Any) -> Any:
        """The client asks again where a connection was lost; it trips over one that was closed before it wrote to it.

        It would also ask a server that hangs ten times more, for a minute.
        """
        try:
            return await super()._execute_command(target_node, *args, **options)
        except TimedOut as error:
            raise RedisClusterException("a server does not answer") from error
        except AttributeError as error:
            if not _was_closed(error):
                raise
            raise Unconnected("closed before it was written to") from error


def _was_closed(error: AttributeError) -> bool:
    return error.name == "writelines"


Store = Redis | Cluster


def connect(url: str) -> Store:
    """A client of the store at this URL. Raises ValueError."""
    if _CLUSTER not in url:
        return Redis.from_pool(Pool.from_url(url, **_OPTIONS))
    scheme, _, rest = url.partition(_CLUSTER)
    place, slash, path = rest.partition("/")
    who, at, hosts = place.rpartition("@")
    nodes = [_node(host) for host in hosts.split(",")]
    options: dict[str, Any] = dict(parse_url(f"{scheme}://{who}{at}{hosts.split(',')[0]}{slash}{path}"))
    for name in ("host", "port", "db"):
        options.pop(name, None)
    if options.pop("connection_class", None) is SSLConnection:
        options["ssl"] = True
    return Cluster(nodes, **_OPTIONS, **options)


def _node(place: str) -> tuple[str, int]:
    host, colon, port = place.rpartition(":")
    if not colon or not port.isdigit():
        host, port = place, "6379"
    if not host:
        raise ValueError("a cluster is named by host:port,host:port")
    return host.strip("[]"), int(port)


async def reply(asked: Any) -> Any:
    """What the client answers; its own types allow for far more than the servers send.

    Raises `Refused` with `BUSY` while the store cannot be reached: the same command may be sent again.
    """
    try:
        return await asked
    except AWAY:
        raise Refused(Why.BUSY) from None
    except AttributeError as error:
        if _was_closed(error):
            raise Refused(Why.BUSY) from None
        raise
    except ResponseError as error:
        if any(word in str(error) for word in _CANNOT_WRITE):
            raise Refused(Why.BUSY) from None
        raise


async def load(redis: Store) -> None:
    """Make the functions known to the server, or to all that hold a part."""
    await reply(redis.function_load(_LIBRARY, replace=True))


async def call(redis: Store, name: str, keys: Sequence[str], *args: str) -> Any:
    """Call a function; a server that came back without it is taught it first."""
    return await _taught(redis, lambda: _function(redis, name, keys, args))


def _function(to: Any, name: str, keys: Sequence[str], args: Sequence[str]) -> Any:
    return to.fcall(f"coinche_{VERSION}_{name}", len(keys), *keys, *args)


async def _taught(redis: Store, ask: Callable[[], Any]) -> Any:
    try:
        return await reply(ask())
    except ResponseError as error:
        if not _is_unknown(error):
            raise
    await load(redis)
    return await reply(ask())


def _is_unknown(error: Exception) -> bool:
    return isinstance(error, ResponseError) and "Function not found" in str(error)


async def together(redis: Store, ask: Callable[[Any], Sequence[Any]]) -> list[Any]:
    """The answers to several questions about keys anywhere, or the errors in their places.

    One server is sent them in one piece; in a cluster they go side by side, each on its own to where its keys are.
    """
    if isinstance(redis, Cluster):
        return list(await asyncio.gather(*ask(redis), return_exceptions=True))
    async with redis.pipeline(transaction=False) as pipe:
        ask(pipe)
        answers: list[Any] = await reply(pipe.execute(raise_on_error=False))
        return answers


async def call_each(redis: Store, name: str, each: Sequence[Sequence[str]], *args: str) -> list[Any]:
    """Call a function for each of these sets of keys; of those that fail there is no answer. Raises `Refused`."""
    answers = await _ask_all(redis, name, [(keys, args) for keys in each])
    for one in answers:
        if isinstance(one, Exception) and not isinstance(one, AWAY):
            _log.error("a part of the store does not answer as it should", function=name, error=str(one))
    good = [one for one in answers if not isinstance(one, Exception)]
    if not good:
        raise Refused(Why.BUSY)
    return good


async def call_all(redis: Store, name: str, calls: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[Any]:
    """Call a function with each of these keys and arguments; where a server is away the error stands in place of its answer.

    Raises `Refused` if it is the only one.
    """
    answers = await _ask_all(redis, name, calls)
    for one in answers:
        if isinstance(one, Exception) and not isinstance(one, AWAY):
            raise one
    return answers


async def _ask_all(redis: Store, name: str, calls: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[Any]:
    answers: list[Any] = []
    for attempt in (1, 2):
        answers = await together(redis, lambda to: [_function(to, name, keys, args) for keys, args in calls])
        if attempt == 1 and any(_is_unknown(one) for one in answers if isinstance(one, Exception)):
            await load(redis)
        else:
            break
    return answers


async def call_confirmed(redis: Store, replicas: int, name: str, keys: Sequence[str], *args: str) -> Any:
    """Call a function, and wait until so many replicas have what it wrote and all that was written before.

    Raises `Refused` with `BUSY` if they do not confirm that in time; what was written may well last.
    """
    if not replicas:
        return await call(redis, name, keys, *args)

    async def both() -> Sequence[Any]:
        where = {"target_nodes": redis.get_node_from_key(keys[0])} if isinstance(redis, Cluster) else {}
        async with redis.pipeline(transaction=False) as pipe:  # for what one connection has written, that one waits
            _function(pipe, name, keys, args)
            pipe.execute_command("WAIT", replicas, CONFIRM_MS, **where)
            answers: Sequence[Any] = await pipe.execute()
            return answers

    answer, have = await _taught(redis, both)
    if have < replicas:
        raise Refused(Why.BUSY)
    return answer


async def describe(redis: Store) -> Server:
    """What kind of store this is and what it promises. Raises `Refused`."""
    nodes = redis.get_primaries() if isinstance(redis, Cluster) else [None]
    told = [await _ask_about(redis, {} if node is None else {"target_nodes": node}) for node in nodes]
    about = {name: ", ".join(sorted({one[name] for one in told if name in one})) or None for name in _TOLD}
    return Server(**about, cluster=isinstance(redis, Cluster))


_TOLD = ("name", "version", "appendonly", "appendfsync", "maxmemory_policy")


async def _ask_about(redis: Store, where: dict[str, Any]) -> dict[str, str]:
    """What one server tells; some that are run for others keep their settings to themselves."""
    about = await reply(redis.info("server", **where))
    name = str(about.get("server_name", "redis"))
    told = {"name": name, "version": str(about.get(f"{name}_version", about["redis_version"]))}
    try:
        settings = await reply(redis.config_get("appendonly", "appendfsync", "maxmemory-policy", **where))
    except ResponseError:
        return told
    return told | {key.replace("-", "_"): str(value) for key, value in settings.items()}
