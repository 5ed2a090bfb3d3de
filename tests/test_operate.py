"""`coinche token` and `coinche archive`: what an operator asks of any store, beside a coinche that runs or without one."""

import os
import signal
import subprocess
import sys
from pathlib import Path

from httpx2 import Client
from redis.asyncio import Redis

from tests.serving import PATIENCE, serving


def coinche_token(data: Path, *words: str, **environment: str) -> tuple[int, str, str]:
    return typed(data, "token", *words, **environment)


def typed(data: Path, *words: str, **environment: str) -> tuple[int, str, str]:
    """Type `coinche` with these words: exit code, standard output, standard error."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("COINCHE_")}
    done = subprocess.run(
        [sys.executable, "-m", "app", *words],
        env=inherited | {"COINCHE_DATA": str(data), "COINCHE_LOG_LEVEL": "debug"} | environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def me(url: str, secret: str) -> tuple[int, str]:
    with Client(base_url=url, headers={"Authorization": f"Bearer {secret}"}, timeout=PATIENCE) as http:
        answer = http.get("/api/v1/me")
        return answer.status_code, answer.json().get("id") or answer.json()["why"]


def test_a_token_is_made_listed_used_and_revoked(tmp_path: Path, redis_url: str) -> None:
    store = {"REDIS_URL": redis_url}
    code, secret, said = coinche_token(tmp_path, "--admin", " Pager ", "--days", "7", **store)
    assert (code, secret.count("\n")) == (0, 1)
    assert secret.startswith("coinche_g_operator_")
    name = secret.split("_")[3]
    assert name in said
    assert secret.strip() not in said
    assert secret[-44:].strip() not in said
    code, listed, _ = coinche_token(tmp_path, "--list", **store)
    assert (code, listed.count("\n")) == (0, 1)
    assert listed.startswith(f"{name}  made 20")
    assert listed.endswith("used never       Pager\n")
    assert coinche_token(tmp_path, "--revoke", name, **store)[0] == 0
    assert coinche_token(tmp_path, "--list", **store) == (0, "", "")
    assert not list(tmp_path.iterdir())


def test_it_works_before_coinche_runs_and_while_it_does(tmp_path: Path) -> None:
    code, first, said = coinche_token(tmp_path, "--admin", "First")
    assert code == 0, said
    with serving(tmp_path) as coinche:
        assert me(coinche.url, first.strip()) == (200, "g_operator")
        code, second, said = coinche_token(tmp_path, "--admin", "Second")
        assert code == 0, said
        with Client(base_url=coinche.url, headers={"Authorization": f"Bearer {second.strip()}"}, timeout=PATIENCE) as http:
            assert [one["name"] for one in http.get("/api/v1/me/tokens").json()["tokens"]] == ["Second", "First"]
        assert coinche_token(tmp_path, "--revoke", first.split("_")[3])[0] == 0
        assert me(coinche.url, first.strip()) == (401, "bad_token")
        assert me(coinche.url, second.strip()) == (200, "g_operator")
        rest = coinche.stop(signal.SIGTERM)
    files = [file for file in tmp_path.glob("valkey/**/*") if file.is_file()]
    written = "".join(file.read_text(errors="replace") for file in (*files, tmp_path / "postgres" / "log"))
    for secret in (first, second):
        assert secret.split("_")[3] in written
        assert secret[-44:].strip() not in coinche.said + rest + written


def test_what_makes_no_sense_is_refused_in_one_line(tmp_path: Path, redis_url: str) -> None:
    for words in ((), ("--list", "--revoke", "x"), ("--admin", "x" * 25), ("--revoke", "none")):
        code, out, said = coinche_token(tmp_path, *words, REDIS_URL=redis_url)
        assert (code, out, said.count("\n")) == (1, "", 1), words
    assert coinche_token(tmp_path, "--admin", "x", "--days", "0", REDIS_URL=redis_url)[0] == 2
    code, _, said = coinche_token(tmp_path, "--list", REDIS_URL="redis://127.0.0.1:1")
    assert (code, said) == (1, "The Valkey or Redis does not answer\n")


async def test_a_game_that_was_put_aside_is_listed_and_tried_anew(tmp_path: Path, redis_url: str) -> None:
    store = {"REDIS_URL": redis_url}
    async with Redis.from_url(redis_url) as redis:
        await redis.xadd("{s0b}outbox:dead", {"game": "0b-k2m7q9x4wz/1", "table": "0b-k2m7q9x4wz", "error": "ValueError"})
        code, told, _ = typed(tmp_path, "archive", **store)
        assert code == 0
        first, one = told.splitlines()
        assert first == "0 to be archived, 1 put aside."
        assert one.endswith("  0b-k2m7q9x4wz/1  ValueError")
        code, told, said = typed(tmp_path, "archive", "--retry", "0b-other/1", **store)
        assert (code, told) == (1, "")
        assert said == "No game 0b-other/1 was put aside: see coinche archive\n"
        assert typed(tmp_path, "archive", "--retry", "0b-k2m7q9x4wz/1", **store)[1] == "1 of 1 will be tried again.\n"
        assert typed(tmp_path, "archive", **store)[1] == "1 to be archived, 0 put aside.\n"
        [(_, fields)] = await redis.xrange("{s0b}outbox") or []
        assert fields == {b"game": b"0b-k2m7q9x4wz/1", b"table": b"0b-k2m7q9x4wz"}
