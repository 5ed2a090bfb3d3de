"""The form of log entries that the release before this one has in tests: who asked is called `who` in it, and not `by`."""

from app.wire.log import FORMAT, Fields

BEFORE = FORMAT - 1


def upcast(fields: Fields) -> Fields:
    """An entry of the release before, in today's form."""
    return {name: value for name, value in fields.items() if name != "who"} | {"v": FORMAT, "by": fields["who"]}


def downcast(fields: Fields) -> Fields:
    """An entry of today in the form of the release before."""
    return {name: value for name, value in fields.items() if name != "by"} | {"v": BEFORE, "who": fields["by"]}
