"""What all viewers of an entry are sent alike is written once; each is sent what he would have been sent alone."""

import json

import pytest

from app.game.rules import PRESETS
from app.game.seats import SEATS
from app.game.view import public_view, view
from app.tables.mirror import Mirror
from app.wire import messages
from tests.finished import played

NOW = 1_796_000_000_000


@pytest.mark.parametrize("preset", ["announced-701", "ffb-2000"])
def test_each_viewer_is_sent_the_step_as_if_alone(preset: str) -> None:
    script = played(PRESETS[preset], seed=3)
    mirror = Mirror(1, script.opened, script.entries[0].seq - 1, None)
    kinds = set()
    for entry in script.entries:
        mirror.apply(entry)
        writer = messages.StepWriter(mirror, entry, NOW)
        for viewer in (None, *SEATS):
            alone = messages.step_json(mirror.table.rules, mirror.step(entry, viewer), NOW)
            sent = json.loads(writer.text(viewer))
            assert sent == json.loads(messages.text(alone))
            kinds |= {event["kind"] for event in sent["events"]}
    assert {"hands_dealt", "card_played", "deal_scored", "game_won"} <= kinds


def test_a_view_holds_no_hand_but_the_viewers() -> None:
    """The part that all may see is made without knowing who looks."""
    script = played(PRESETS["announced-701"], seed=4)
    mirror = Mirror(1, script.opened, script.entries[0].seq - 1, None)
    for entry in script.entries:
        mirror.apply(entry)
        game = mirror.table.game
        assert game is not None
        assert (public_view(game).viewer, public_view(game).hand, public_view(game).moves) == (None, None, None)
        assert view(game, None) == public_view(game)
