"""Everything is killed for a while; nothing that was acknowledged may be lost. `make chaos SECONDS=…` does it for longer."""

from pathlib import Path

from tests.chaos.driver import Plan, run


async def test_nothing_acknowledged_is_lost_while_everything_is_killed(tmp_path: Path) -> None:
    report = await run(Plan(seconds=30, seed=2), tmp_path, print)
    assert report.differences == [], report.text()
    assert report.counts.total() > 0
    assert report.load["games"] == report.load["archived"] >= 1
