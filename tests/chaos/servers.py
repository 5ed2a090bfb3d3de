"""One of the two servers in a process of its own, so that it can be stopped or killed without the other.

`python -m tests.chaos.servers valkey FOLDER` says where it answers, and runs until its standard input ends.
"""

import sys
from pathlib import Path

from app.embedded import running


def main() -> None:
    """Run the server until nobody holds the other end of standard input."""
    which, folder = sys.argv[1:]
    others = {"valkey": {"database_url": "elsewhere"}, "postgres": {"redis_url": "elsewhere"}}
    with running(Path(folder), **others[which]) as servers:
        print(servers.redis_url if which == "valkey" else servers.database_url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
