"""`coinche bench` measures what it says, on a coinche of its own."""

from app.bench import Plan, measure


async def test_it_measures_an_action_a_socket_and_tables_at_rest() -> None:
    steps: list[str] = []
    figures = await measure(Plan(tables=1, actions=12, sockets=5, rest=(2,), seconds=1), steps.append)
    assert list(figures) == ["action", "socket", "rest_2"]
    action = figures["action"]
    assert action["actions"] == 12
    assert action["cpu_ms_per_action"] > 0
    assert action["stored_bytes_per_action"] > 0
    assert action["commands_per_action"]["xadd"] >= 1  # each is an entry of a log
    assert action["commands_per_action"].get("pexpire", 0) < 1  # and renews the time of no key
    assert figures["socket"]["sockets"] == 5
    assert figures["rest_2"]["tables"] == 2
    assert len(steps) == 3
