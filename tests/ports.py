"""Ports that are known before anybody listens on them."""

import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager


@contextmanager
def held(count: int = 1) -> Iterator[list[int]]:
    """Free ports of this machine that nobody else is given meanwhile; who knows one may listen on it, again and again."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind(("127.0.0.1", 0))
        ports = [one.getsockname()[1] for one in sockets]
        if sys.platform != "linux":  # elsewhere nobody may listen where another is bound
            stack.close()
        yield ports
