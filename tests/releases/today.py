"""`python -m tests.releases.today serve`: today's program, which has learnt the entries of the release before."""

from app.__main__ import main
from app.wire import log
from tests.releases.form import BEFORE, upcast

log.UPCASTS = {BEFORE: upcast}
main()
