"""docker-compose.yml: what it says, and that docker-compose takes it."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from app.flock import STOP_SECONDS
from app.settings import Settings, variable
from app.web import hub, server
from tests.deploy.dockerfile import ROOT, read

Json = dict[str, Any]
TEXT = (ROOT / "docker-compose.yml").read_text()
FILE: Json = yaml.safe_load(TEXT)
SERVICES: Json = FILE["services"]
MISSING = "docker-compose is missing, without which docker-compose.yml is only read: apt-get install docker-compose"


def seconds(written: str) -> int:
    minutes, rest = re.fullmatch(r"(?:(\d+)m)?(?:(\d+)s)?", written).groups()  # type: ignore[union-attr]
    return int(minutes or 0) * 60 + int(rest or 0)


def default(written: str) -> str:
    """What stands for `${NAME:-this}` where nobody set it."""
    return re.sub(r"\$\{\w+:-(.*?)\}", r"\1", written)


def test_the_line_that_makes_the_password_makes_one(tmp_path: Path) -> None:
    line = re.search(r"^#   (\(umask.*)$", TEXT, re.MULTILINE)
    assert line
    subprocess.run(["sh", "-c", line[1]], cwd=tmp_path, check=True)
    assert re.fullmatch(r"POSTGRES_PASSWORD=[0-9a-f]{48}\n", (tmp_path / ".env").read_text())
    assert (tmp_path / ".env").stat().st_mode & 0o777 == 0o600


def test_no_secret_is_in_the_file() -> None:
    uses = re.findall(r"\$\{POSTGRES_PASSWORD(.*?)\}", TEXT)
    assert uses
    assert all(use.startswith(":?") for use in uses)
    assert re.findall(r"PASSWORD: (?!\$\{)", TEXT) == []


def test_two_apps_that_leave_the_work_to_a_worker() -> None:
    for name in ("app1", "app2"):
        app = SERVICES[name]
        assert app["environment"]["COINCHE_WORK"] == "false"
        assert set(app["networks"]) == {"front", "back"}
    assert SERVICES["worker"]["command"] == ["coinche", "worker"]
    assert "COINCHE_WORK" not in SERVICES["worker"]["environment"]
    assert SERVICES["worker"]["healthcheck"] == {"disable": True}  # the image asks a port on which it does not listen
    known = {variable(field) for field in Settings.model_fields}
    for name in ("app1", "app2", "worker"):
        assert set(SERVICES[name]["environment"]) <= known


def test_only_the_proxy_is_reached_from_outside() -> None:
    assert [name for name, service in SERVICES.items() if "ports" in service] == ["proxy"]
    assert set(SERVICES["proxy"]["networks"]) == {"front"}
    assert FILE["networks"]["back"]["internal"] is True
    for name in ("valkey", "postgres"):
        assert set(SERVICES[name]["networks"]) == {"back"}
    assert set(SERVICES["worker"]["networks"]) == {"back", "out"}  # it sends to hooks
    (front,) = FILE["networks"]["front"]["ipam"]["config"]
    for name in ("app1", "app2"):
        assert SERVICES[name]["environment"]["COINCHE_PROXIES"] == front["subnet"]


@pytest.mark.parametrize("name", SERVICES)
def test_everything_is_sealed_limited_and_started_again(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["restart"] == "unless-stopped"
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["mem_limit"]
    assert service["cpus"]
    assert service["pids_limit"]
    if name not in ("valkey", "postgres"):  # these become another user when they start
        assert service["cap_drop"] == ["ALL"]


def test_a_table_is_on_disk_before_a_move_is_acknowledged() -> None:
    command = " ".join(SERVICES["valkey"]["command"].split())
    for words in ("--appendonly yes", "--appendfsync always", "--maxmemory-policy noeviction"):
        assert words in command
    assert SERVICES["valkey"]["volumes"] == ["valkey:/data"]
    assert SERVICES["postgres"]["volumes"] == ["postgres:/var/lib/postgresql/data"]


def test_nobody_is_killed_while_guests_are_seen_off() -> None:
    longest = hub.GRACE_SECONDS + server.GRACE_SECONDS
    assert longest < STOP_SECONDS
    for name in ("app1", "app2", "worker"):
        assert seconds(SERVICES[name]["stop_grace_period"]) > longest


def test_every_service_that_is_waited_for_can_tell_that_it_is_well() -> None:
    image = bool(read()[-1].of("HEALTHCHECK"))
    for service in SERVICES.values():
        for name, awaited in service.get("depends_on", {}).items():
            assert awaited["condition"] == "service_healthy"
            assert "healthcheck" in SERVICES[name] or (image and SERVICES[name]["image"] == "coinche")


def test_the_proxy_knows_the_apps_by_the_names_they_have() -> None:
    text = (ROOT / "deploy" / "Caddyfile").read_text()
    (apps,) = re.findall(r"\{\$COINCHE_APPS:(.*?)\}", text)
    assert apps.split() == [f"{name}:8000" for name in SERVICES if name.startswith("app")]
    assert "./deploy/Caddyfile:/etc/caddy/Caddyfile:ro" in SERVICES["proxy"]["volumes"]
    assert default(SERVICES["proxy"]["environment"]["COINCHE_URL"]) == ":80"


# --- docker-compose itself -------------------------------------------------------------------------------------------


def compose(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `docker-compose config` says with these variables alone."""
    program = shutil.which("docker-compose")
    assert program, MISSING
    (folder / "nothing").touch()
    command = [program, "--env-file", str(folder / "nothing"), "--file", str(ROOT / "docker-compose.yml"), "config"]
    given = {"PATH": "/usr/bin:/bin", "HOME": str(folder)} | environment
    return subprocess.run(command, env=given, cwd=folder, capture_output=True, text=True, check=False)


def test_without_a_password_it_does_not_start(tmp_path: Path) -> None:
    refused = compose(tmp_path)
    assert refused.returncode != 0
    assert "top of docker-compose.yml tells how" in refused.stderr


@pytest.mark.parametrize("url", ["", "https://a.example.org"])
def test_with_one_it_is_taken_as_it_is_meant(tmp_path: Path, url: str) -> None:
    done = compose(tmp_path, POSTGRES_PASSWORD="3c1f", COINCHE_URL=url)
    assert done.returncode == 0, done.stderr
    services = yaml.safe_load(done.stdout)["services"]
    assert set(services) == set(SERVICES)
    assert services["proxy"]["environment"] == {"COINCHE_URL": url or ":80"}
    for name in ("app1", "app2", "worker"):
        assert services[name]["environment"]["COINCHE_URL"] == url
        assert services[name]["environment"]["DATABASE_URL"] == "postgresql://coinche:3c1f@postgres/coinche"
