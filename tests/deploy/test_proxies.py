"""Behind a proxy: who is believed about the way a request came; and the repository's own proxy before two real processes."""

import asyncio
import os
import re
import shutil
import signal
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

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
            "COINCHE_URL": f"{site}:{port}",
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


# --- the recipes of docs/operating.md --------------------------------------------------------------------------------

RECIPES = (Path(__file__).parents[2] / "docs" / "operating.md").read_text()
MISSING = "nginx and openssl are missing, with which a recipe is tried: apt-get install nginx openssl"
ANYBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
ANYBODY.check_hostname, ANYBODY.verify_mode = False, ssl.CERT_NONE


def recipe(language: str, number: int = 0) -> str:
    """A block of the page in this language."""
    return str(re.findall(rf"^```{language}\n(.*?)^```", RECIPES, re.MULTILINE | re.DOTALL)[number])


def put(text: str, *changes: tuple[str, str]) -> str:
    """The text with other words in place of some that it has."""
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def found(program: str) -> str:
    """Where Debian has put a program, perhaps for root alone."""
    path = shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin")
    assert path, MISSING
    return path


@contextmanager
def nginx(folder: Path, port: int, *changes: tuple[str, str]) -> Iterator[None]:
    """nginx by the recipe on this port, which also compresses whatever it may."""
    names = ["-subj", "/CN=localhost", "-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    made = [found("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", *names]
    subprocess.run(made, check=True, capture_output=True)
    site = put(
        recipe("nginx"),
        ("443", f"127.0.0.1:{port}"),
        ("/etc/ssl/coinche.example.org.pem", str(folder / "cert.pem")),
        ("/etc/ssl/coinche.example.org.key", str(folder / "key.pem")),
        *changes,
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    files = f"daemon off; master_process off; pid {folder}/nginx.pid; error_log stderr;\nevents {{}}\n"
    text = f"{files}http {{\naccess_log off; gzip on; gzip_proxied any; gzip_types *; gzip_min_length 0;\n{folders}{site}}}\n"
    (folder / "nginx.conf").write_text(text)
    with running(folder, [found("nginx"), "-c", str(folder / "nginx.conf")], f"https://127.0.0.1:{port}", {}):
        yield


@contextmanager
def caddy_by_recipe(folder: Path, port: int, http_port: int, number: int, *changes: tuple[str, str]) -> Iterator[None]:
    """Caddy by the recipe on this port."""
    options = f"{{\n admin off\n skip_install_trust\n http_port {http_port}\n}}\n"
    (folder / "Caddyfile").write_text(options + put(recipe("caddyfile", number), *changes))
    homes = {name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")}
    command = [str(CADDY), "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    with running(folder, command, f"https://localhost:{port}", homes):
        yield


@contextmanager
def running(folder: Path, command: list[str], site: str, environment: dict[str, str]) -> Iterator[None]:
    """A proxy that answers by TLS, whether what is behind it does or not."""
    with (folder / "log").open("wb") as log, subprocess.Popen(command, env=environment, stdout=log, stderr=log) as process:
        try:
            deadline = time.monotonic() + PATIENCE
            with httpx2.Client(verify=False, timeout=PATIENCE) as http:
                while process.poll() is None and time.monotonic() < deadline:
                    try:
                        http.get(f"{site}/")
                        break
                    except httpx2.TransportError:
                        time.sleep(0.05)
            assert process.poll() is None, (folder / "log").read_text()
            yield
        finally:
            process.terminate()


@pytest.mark.parametrize("path", ["", "/coinche", "/coinche stripped"])
@pytest.mark.parametrize("program", ["nginx", "caddy"])
async def test_a_recipe_serves_page_api_socket_and_streams(
    tmp_path: Path, redis_url: str, database_url: str, program: str, path: str
) -> None:
    path, _, is_stripped = path.partition(" ")
    with ExitStack() as stack:
        port, http_port = stack.enter_context(held(2))
        site = f"https://localhost:{port}{path}"
        urls = {"REDIS_URL": redis_url, "DATABASE_URL": database_url, "COINCHE_URL": site}
        coinche = stack.enter_context(app(tmp_path, urls))
        behind = urlsplit(coinche.url).netloc
        if program == "nginx":
            changes = [("127.0.0.1:8000", behind + ("/" if is_stripped else ""))]
            changes += [("location / {", f"location {path}/ {{")] if path else []
            stack.enter_context(nginx(tmp_path, port, *changes))
        else:
            name = "example.org" if path else "coinche.example.org"
            changes = [("127.0.0.1:8000", behind), (f"{name} {{", f"localhost:{port} {{")]
            changes += [("handle /", "handle_path /")] if is_stripped else []
            stack.enter_context(caddy_by_recipe(tmp_path, port, http_port, 1 if path else 0, *changes))
        await play_through(site, path)
        assert "a proxy" not in coinche.stop(signal.SIGTERM)


async def play_through(site: str, path: str) -> None:
    """A newcomer loads the page and a file, makes a table, watches its events come one by one, and its socket."""
    origin = site.removesuffix(path)
    async with httpx2.AsyncClient(verify=ANYBODY, timeout=PATIENCE, headers={"Origin": origin}) as http:
        page = await http.get(f"{site}/t/3f-k2m7q9x4wz")
        (script,) = re.findall(r'src="(\S+/js/app\.js)"', page.text)
        assert (await http.get(origin + script)).status_code == 200
        assert "strict-transport-security" not in page.headers  # of localhost, which is the name of other servers too
        made = await http.post(f"{site}/api/v1/me", json={"name": "Ada"})
        assert {"; secure", f"; path={path or '/'}"} <= set(re.findall(r"; [^;]+", made.headers["set-cookie"].lower()))
        opened = await http.post(f"{site}/api/v1/tables", json={})
        assert (await http.get(origin + opened.headers["location"])).json()["id"] == opened.json()["id"]
        asked = {"Accept": "text/event-stream", "Accept-Encoding": "gzip"}
        async with http.stream("GET", f"{site}/api/v1/tables/{opened.json()['id']}/events", headers=asked) as events:
            assert events.headers["cache-control"] == "no-store, no-transform"
            assert "event: welcome" in await anext(events.aiter_text())  # while the answer goes on
        bare = await http.get(site)
        assert bare.status_code == 200 or bare.headers["location"] in (f"{path}/", f"{site}/")
    async with connect(site.replace("https", "wss") + "/ws?v=1", ssl=ANYBODY, origin=Origin(origin), proxy=None) as line:
        assert '"probe"' in str(await line.recv())
