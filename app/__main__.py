"""`python -m app` is `coinche`."""

from app.cli import main

main()
