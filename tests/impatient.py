"""`python -m tests.impatient serve`: today's program, which gives up soon a server of its own that does not start again."""

from app import daemon
from app.__main__ import main

daemon.MOST_FAILURES = 2
main()
