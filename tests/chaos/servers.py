"""One of the two servers in a process of its own, so that it can be stopped or killed without the other.

One that dies is started again, as in a `coinche serve`. `python -m tests.chaos.servers valkey FOLDER` says where it answers,
and runs until its standard input ends. With one more word Valkey's `appendfsync` is that word, it is not started again, and if
anything stands on standard input, its files have lost power when it ends.
"""

import sys
from pathlib import Path

from redis import Redis

from app import logs
from app.embedded import running
from tests.chaos.disk import Disk

ZEROS = "the power is gone, and zeros are left"


def main() -> None:
    """Run the server until nobody holds the other end of standard input."""
    which, folder, *appendfsync = sys.argv[1:]
    data = Path(folder)
    disk = Disk(data / "valkey" / "appendonlydir", data / "synced") if appendfsync else None
    if disk is not None:
        disk.watch()
    urls = (None, "elsewhere") if which == "valkey" else ("elsewhere", None)
    logs.configure("warning")
    with running(data, urls[0], urls[1], restarts=disk is None) as servers:
        for setting in appendfsync:
            with Redis.from_url(servers.redis_url) as redis:
                redis.config_set("appendfsync", setting)
        print(servers.redis_url if which == "valkey" else servers.database_url, flush=True)
        last_word = sys.stdin.read()
    if disk is not None and last_word:
        disk.lose_power(zeros=last_word == ZEROS)


if __name__ == "__main__":
    main()
