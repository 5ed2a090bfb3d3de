"""A log tells where something went wrong and never what somebody held."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
import structlog
from pydantic import TypeAdapter

from app import logs


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def _logged(capsys: pytest.CaptureFixture[str], fault: BaseException) -> str:
    logs.configure("info")
    hand = "JH 9H AS"
    try:
        raise fault
    except BaseException as error:
        structlog.get_logger().error("it failed", table="05-x", exc_info=error)
    assert hand  # a variable that a careless traceback would show
    return capsys.readouterr().err


def test_an_error_is_told_with_its_place_and_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    said = _logged(capsys, RuntimeError("the log has a gap"))
    assert "it failed" in said
    assert "table=05-x" in said
    assert "test_logs.py" in said
    assert "RuntimeError: the log has a gap" in said


def test_no_variable_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert "9H AS" not in _logged(capsys, RuntimeError("no")).replace('hand = "JH 9H AS"', "")


def test_an_error_that_quotes_its_input_is_told_without_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(ValueError, match="input_value='JH'") as caught:
        TypeAdapter(int).validate_python("JH")
    said = _logged(capsys, caught.value)
    assert "ValidationError" in said
    assert "input_value" not in said


def test_each_error_of_a_group_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    said = _logged(capsys, ExceptionGroup("two", [RuntimeError("one"), KeyError("other")]))
    assert "RuntimeError: one" in said
    assert "KeyError: 'other'" in said


def test_what_is_below_the_level_is_not_told(capsys: pytest.CaptureFixture[str]) -> None:
    logs.configure("warning")
    structlog.get_logger().info("quiet")
    assert capsys.readouterr().err == ""


def test_a_full_disk_under_the_log_stops_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """`/dev/full` takes nothing, as a file does where there is no room."""
    with Path("/dev/full").open("w") as full:
        with pytest.raises(OSError, match="No space left"):
            print("lost", file=full, flush=True)
        monkeypatch.setattr("sys.stderr", full)
        logs.configure("info")
        structlog.get_logger().error("it failed")
        with suppress(OSError):
            full.close()
