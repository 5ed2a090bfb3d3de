"""Behind a proxy: who is believed about the way a request came; and the repository's own proxy before two real processes."""

import asyncio
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin

from tests.party import PATIENCE, party
from tests.ports import held
from tests.serving import Serving, serving

CADDY = Path(sys.executable).with_name("caddy")  # of the extra "dev"
CADDYFILE = Path(__file__).parents[2] / "deploy" / "Caddyfile"
CLAIM = {"X-Forwarded-Proto": "https", "X-Forwarded-For": "203.0.113.9"}


async def cookie(url: str, headers: dict[str, str]) -> str:
    """The cookie that a newcomer is given."""
    async with httpx2.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE) as http:
        answer = await http.post("/api/v1/me", json={"name": "Ada"})
        assert answer.status_code == 200, answer.text
        return answer.headers["set-cookie"].lower()


@pytest.mark.parametrize(
    ("trusted", "is_believed"), [("", False), ("192.0.2.0/24", False), ("127.0.0.1", True), ("::1, 127.0.0.0/8", True)]
)
async def test_only_a_named_proxy_is_believed(
    tmp_path: Path, redis_url: str, database_url: str, trusted: str, is_believed: bool
) -> None:
    urls = {"REDIS_URL": redis_url, "DATABASE_URL": database_url}
    with serving(tmp_path, COINCHE_PROXIES=trusted, FORWARDED_ALLOW_IPS="*", **urls) as coinche:
        assert ("secure" in await cookie(coinche.url, CLAIM)) is is_believed
        assert "secure" not in await cookie(coinche.url, {})


# --- deploy/Caddyfile ------------------------------------------------------------------------------------------------


@contextmanager
def caddy(folder: Path, site: str, *apps: Serving) -> Iterator[str]:
    """The proxy as docker-compose.yml has it, on another port of this machine and before other processes; its address."""
    with ExitStack() as stack:
        port, http_port = stack.enter_context(held(2))
        environment = {
            "COINCHE_DOMAIN": f"{site}:{port}",
            "COINCHE_APPS": " ".join(app.url.removeprefix("http://") for app in apps),
            "COINCHE_PROXY_ADMIN": "off",
            "COINCHE_HTTP_PORT": str(http_port),
            "HOME": str(folder),
            "XDG_DATA_HOME": str(folder / "data"),
            "XDG_CONFIG_HOME": str(folder / "config"),
        }
        command: list[str | Path] = [CADDY, "run", "--config", CADDYFILE, "--adapter", "caddyfile"]
        log = stack.enter_context((folder / "log").open("wb"))
        process = stack.enter_context(subprocess.Popen(command, env=environment, stdout=log, stderr=log))
        stack.callback(process.terminate)
        wait_for(f"{site}:{port}", process, folder / "log")
        yield f"{site}:{port}"


def wait_for(site: str, process: subprocess.Popen[bytes], log: Path) -> None:
    """Until it answers for the processes behind it."""
    deadline = time.monotonic() + PATIENCE
    with httpx2.Client(base_url=site, verify=False, timeout=PATIENCE) as http:
        while True:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            try:
                if http.get("/health/ready").status_code == 200:
                    return
            except httpx2.TransportError:
                time.sleep(0.05)


def app(folder: Path, urls: dict[str, str], port: int = 0) -> AbstractContextManager[Serving]:
    """An app process that believes the proxy."""
    return serving(folder, COINCHE_PROXIES="127.0.0.1", COINCHE_PORT=str(port), **urls)


async def test_a_process_leaves_under_a_game_and_a_new_one_comes(tmp_path: Path, redis_url: str, database_url: str) -> None:
    """A roll-out: nobody who plays through the proxy is refused anything."""
    urls = {"REDIS_URL": redis_url, "DATABASE_URL": database_url}
    with ExitStack() as stack:
        ports = stack.enter_context(held(2))
        apps = [stack.enter_context(app(tmp_path, urls, port)) for port in ports]
        site = stack.enter_context(caddy(tmp_path, "http://127.0.0.1", *apps))
        async with party(site) as four, httpx2.AsyncClient(base_url=site, timeout=PATIENCE) as http:
            await four.more()
            for number in (0, 1):
                apps[number].process.send_signal(signal.SIGTERM)
                while apps[number].process.poll() is None:
                    assert (await http.post("/api/v1/me", json={"name": "Ada"})).status_code == 200
                assert apps[number].process.returncode == 0
                await four.more()
                apps[number] = await asyncio.to_thread(stack.enter_context, app(tmp_path, urls, ports[number]))
                await four.more()
        assert four.refused == []
        said = [app.stop(signal.SIGTERM) for app in apps]
        assert not any("guests are still here" in words for words in said)


async def test_a_killed_process_is_passed_over_at_once(tmp_path: Path, redis_url: str, database_url: str) -> None:
    urls = {"REDIS_URL": redis_url, "DATABASE_URL": database_url}
    with (
        app(tmp_path, urls) as first,
        app(tmp_path, urls) as second,
        caddy(tmp_path, "http://127.0.0.1", first, second) as site,
    ):
        async with party(site) as four:
            await four.more()
            first.process.kill()
            first.process.wait(PATIENCE)
            assert "secure" not in await cookie(site, {})  # a POST, and the proxy does not know yet
            await four.more()
        assert four.refused == []


async def test_behind_tls_the_page_speaks_and_its_cookie_is_secure(tmp_path: Path, redis_url: str, database_url: str) -> None:
    urls = {"REDIS_URL": redis_url, "DATABASE_URL": database_url}
    anybody = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    anybody.check_hostname, anybody.verify_mode = False, ssl.CERT_NONE  # caddy signs for localhost itself
    with app(tmp_path, urls) as one, caddy(tmp_path, "https://localhost", one) as site:
        async with httpx2.AsyncClient(base_url=site, verify=anybody, timeout=PATIENCE) as http:
            answer = await http.post("/api/v1/me", json={"name": "Ada"}, headers={"Origin": site})
            assert answer.status_code == 200
            assert "; secure" in answer.headers["set-cookie"].lower()
            foreign = await http.post("/api/v1/me", json={"name": "Ada"}, headers={"Origin": "https://example.org"})
            assert foreign.status_code == 403
            assert (await http.get("/metrics")).status_code == 404
            assert (await http.get("/static/js/app.js")).headers["content-encoding"] == "gzip"
            assert "content-encoding" not in (await http.get("/api/v1/me")).headers
        address = site.replace("https", "wss") + "/ws?v=1"
        async with connect(address, ssl=anybody, origin=Origin(site), proxy=None) as line:
            assert '"probe"' in str(await line.recv())
        with pytest.raises(InvalidStatus, match="403"):
            await connect(address, ssl=anybody, origin=Origin("https://example.org"), proxy=None)
