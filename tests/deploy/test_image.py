"""The Dockerfile, read: what is in the image, as whom it runs and how it is stopped. `make check-image` builds and runs it."""

import re

from tests.deploy.dockerfile import ROOT, context, read

STAGES = read()
FINAL = STAGES[-1]


def test_only_what_runs_is_in_the_last_stage() -> None:
    builder, final = STAGES
    assert {stage.base for stage in STAGES} == {"debian:bookworm-slim"}
    assert [step.options for step in final.of("COPY")] == [{"from": builder.name}]
    installed = " ".join(step.rest for step in final.of("RUN"))
    for tool in ("pip", "venv", "gcc", "curl", "python3-dev"):
        assert tool not in installed
    built = " ".join(step.rest for step in builder.of("RUN"))
    assert "--constraint constraints.txt" in built
    assert "pip uninstall" in built
    assert "[dev]" not in built
    assert "embedded" not in built


def test_it_runs_as_nobody_in_particular() -> None:
    (user,) = FINAL.of("USER")
    number, group = user.rest.split(":")
    assert int(number) == int(group) > 0
    made = " ".join(step.rest for step in FINAL.of("RUN"))
    assert f"useradd --system --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin --uid {number} " in made
    assert FINAL.steps.index(user) > max(FINAL.steps.index(step) for step in FINAL.of("RUN") + FINAL.of("COPY"))


def test_it_needs_to_write_nowhere() -> None:
    (settings,) = FINAL.of("ENV")
    assert settings.pairs["PYTHONDONTWRITEBYTECODE"] == "1"
    assert "compileall" in STAGES[0].of("RUN")[-1].rest


def test_it_is_started_stopped_and_asked_without_a_shell() -> None:
    assert FINAL.of("CMD")[0].list == ["coinche", "serve"]
    assert FINAL.of("STOPSIGNAL")[0].rest == "SIGTERM"
    (check,) = FINAL.of("HEALTHCHECK")
    assert check.list[0] == "python3"
    assert "/health/live" in check.list[-1]


def test_every_file_that_a_step_copies_is_given_to_the_build() -> None:
    given = {str(path) for path in context()}
    folders = {path.partition("/")[0] for path in given}
    for step in STAGES[0].of("COPY"):
        for source in step.rest.split()[:-1]:
            assert source in given | folders, source
    assert not {path for path in given if re.search(r"\.env|\.data|\.git|tests/|\.venv", path)}
    assert (ROOT / "constraints.txt").read_text().count("==") > 10
