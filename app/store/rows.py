"""The rows in which a finished game stands in Postgres, but for what the game does to its players."""

from collections.abc import Iterable, Sequence
from typing import Any

from app.game.rules import Rules, preset_of
from app.game.seats import SEATS, Seat
from app.game.view import Row, sheet
from app.rating import Rating
from app.tables.history import Tally, Told, tally, tell_deals
from app.tables.ports import Entry
from app.tables.table import House, Occupant, Person
from app.wire.archive import write_archived, write_row, write_rules

Values = dict[str, Any]
"""A row by the names of its columns."""


def game_row(told: Told, rated: bool, tallies: Sequence[Tally]) -> Values:
    """The row of `games`."""
    game = told.game
    return {
        "id": game.id,
        "table_id": told.table,
        "number": told.number,
        "listed": told.listed,
        "preset": preset_of(game.rules),
        "rules": write_rules(game.rules),
        "rated": rated,
        "started": told.started,
        "finished": told.finished,
        "total_a": game.totals.A,
        "total_b": game.totals.B,
        "ended": told.ended.value,
        "winner": None if told.winner is None else told.winner.value,
        "deal_count": len(game.deals),
        "contracts": names_of(tallies),
    }


def names_of(tallies: Iterable[Tally]) -> list[str]:
    """The names by which the contracts of a game can be asked for."""
    return sorted({name for one in tallies for name in one.contracts})


def tallies_of(rules: Rules, entries: Iterable[Entry]) -> tuple[Tally, ...]:
    """What each seat did, by seat."""
    deals = tell_deals(rules, entries)
    return tuple(tally(deals, seat) for seat in SEATS)


def seat_row(
    game: Values, occupants: Sequence[Occupant], seat: Seat, tally: Tally, before: Rating | None, after: Rating | None
) -> Values:
    """A row of `seats`."""
    occupant, partner = occupants[seat], occupants[seat.partner]
    who = {
        "game": game["id"],
        "seat": seat.value,
        "player": occupant.id if isinstance(occupant, Person) else None,
        "house": occupant.player if isinstance(occupant, House) else None,
        "name": occupant.name,
        "mu_before": before and before.mu,
        "sigma_before": before and before.sigma,
        "mu_after": after and after.mu,
        "sigma_after": after and after.sigma,
    }
    return who | counted(game, seat, partner.id if isinstance(partner, Person) else None, tally)


def counted(game: Values, seat: Seat, partner: str | None, tally: Tally) -> Values:
    """What a row of `seats` says of how the game went, for one index to find and to order."""
    return {
        "finished": game["finished"],
        "listed": game["listed"],
        "preset": game["preset"],
        "partner": partner,
        "won": None if game["winner"] is None else seat.side.value == game["winner"],
        "taken": tally.taken,
        "made": tally.made,
        "bids": tally.bids,
        "coinches": tally.coinches,
        "coinches_won": tally.coinches_won,
        "capots": tally.capots,
        "belotes": tally.belotes,
        "trumps": list(tally.trumps),
        "contracts": list(tally.contracts),
    }


def deal_rows(told: Told) -> list[Values]:
    """The rows of `deals`."""
    return [_deal(told.game.id, row) for row in sheet(told.game)]


def entry_rows(game: str, entries: Sequence[Entry]) -> list[Values]:
    """The rows of `entries`."""
    return [
        {"game": game, "seq": entry.seq, "at": entry.at, "due": entry.due, "entry": write_archived(entry)} for entry in entries
    ]


def _deal(game: str, row: Row) -> Values:
    written = write_row(row)
    return {
        "game": game,
        "number": row.deal,
        "dealer": row.dealer.value,
        "contract": written["contract"],
        "made": row.made,
        "trick_points_a": row.trick_points and row.trick_points.A,
        "trick_points_b": row.trick_points and row.trick_points.B,
        "tricks_won_a": row.tricks_won and row.tricks_won.A,
        "tricks_won_b": row.tricks_won and row.tricks_won.B,
        "score_a": row.score.A,
        "score_b": row.score.B,
        "lines": written["lines"],
    }
