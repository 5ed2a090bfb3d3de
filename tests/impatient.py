"""`python -m tests.impatient serve`: today's program, which gives up at once a server of its own that does not start again."""

from app import daemon
from app.__main__ import main

daemon.MOST_FAILURES = 1
main()
