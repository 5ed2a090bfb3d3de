"""Nothing is sent to where only this server can reach, whatever an address looks like, and whatever a name says later."""

import ssl
import subprocess
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import ip_address
from pathlib import Path

import pytest

from app.game.refusal import Refused, Why
from app.tables.deliveries import ClaimedDelivery, Delivery
from app.webhooks.sender import Sender
from app.webhooks.url_policy import UrlPolicy, is_outside
from tests.receiver import receiving

LOCAL = ("127.0.0.0/8",)
SECRET = "whsec_QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo="


def words(text: str) -> list[str]:
    return text.split()


INSIDE = words("""
    0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1 127.8.8.8 169.254.169.254
    168.63.129.16 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.51.100.7 203.0.113.9
    224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
    :: ::1 ::7f00:1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:169.254.169.254 ::ffff:0:127.0.0.1
    64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 2002:7f00:1:: 2002:a00:1::1 2002:a9fe:a9fe::
    2001:0:4136:e378:8000:63bf:f7f7:f7f7 2001:db8::1 2001:10::1 2001:20::1 3fff::1 100::1 5f00::1 4000::1
    fc00::1 fd00:ec2::254 fdff::1 fe80::1 fe80::1%eth0 febf::1 fec0::1 ff02::1 ff0e::1
""")

OUTSIDE = words("""
    1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.0.0.1 128.0.0.1 169.253.0.1 172.15.0.1 172.32.0.1
    192.0.1.1 192.167.0.1 192.169.0.1 198.17.0.1 198.20.0.1 223.255.255.255
    2606:4700:4700::1111 2a00:1450:4007:80e::200e 2400:cb00:2048:1::c629:d7a2 ::ffff:8.8.8.8 64:ff9b::808:808 2002:808:808::1
""")


def says(*answers: Sequence[str]) -> tuple[Callable[[str, int], Awaitable[Sequence[str]]], list[str]]:
    """A resolver that gives these answers in turn, and the last one from then on; and what it was asked."""
    asked: list[str] = []

    async def resolve(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return answers[min(len(asked), len(answers)) - 1]

    return resolve, asked


async def is_refused(url_policy: UrlPolicy, url: str) -> bool:
    found: list[tuple[Why, str | None]] = []
    try:
        await url_policy.check(url)
    except Refused as no:
        found.append((no.why, no.field))
    assert found in ([], [(Why.BAD_URL, "url")])
    return bool(found)


@pytest.mark.parametrize("address", INSIDE)
async def test_an_address_inside_is_refused(address: str) -> None:
    assert not is_outside(ip_address(address))
    resolve, _ = says([address])
    assert await is_refused(UrlPolicy(resolve=resolve), "https://hook.example/")


@pytest.mark.parametrize("address", OUTSIDE)
async def test_an_address_of_the_internet_is_allowed(address: str) -> None:
    resolve, _ = says([address])
    assert not await is_refused(UrlPolicy(resolve=resolve), "https://hook.example/")


@pytest.mark.parametrize(
    "url",
    [
        "http://hook.example/",
        "ftp://hook.example/",
        "file:///etc/passwd",
        "gopher://hook.example/",
        "unix:///run/valkey.sock",
        "//hook.example/",
        "hook.example",
        "/hook",
        "",
        "https://",
        "https:///hook",
        "https://nina@hook.example/",
        "https://nina:secret@hook.example/",
        "https://hook.example\\@other.example/",
        "https://hook.example/#part",
        "https://hook.example:0/",
        "https://hook.example:99999/",
        "https://hook.example:x/",
        "https://hook example/",
        "https://hook.example/\r\nhost: other.example",
        "https://" + "a" * 300 + ".example/",
        "https://hook.example/" + "a" * 1_000,
    ],
)
async def test_what_is_no_plain_https_address_is_refused(url: str) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        host.encode("idna")
        return ["8.8.8.8"]

    assert await is_refused(UrlPolicy(resolve=resolve), url)


@pytest.mark.parametrize(
    "url", ["https://hook.example", "https://hook.example:8443/a?b=c", "https://HOOK.example/", "https://élan.example/"]
)
async def test_an_https_address_on_any_port_is_allowed(url: str) -> None:
    resolve, asked = says(["8.8.8.8"])
    used = await UrlPolicy(resolve=resolve).check(url)
    assert used.isascii()
    assert asked == [used.split("/")[2].partition(":")[0]]


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "localhost",
        "LOCALHOST.",
    ],
)
async def test_this_machine_is_refused_however_it_is_written(host: str) -> None:
    """Asked of the real resolver, which understands most of these."""
    assert await is_refused(UrlPolicy(), f"https://{host}/")


async def test_one_address_inside_among_others_is_one_too_many() -> None:
    resolve, _ = says(["8.8.8.8", "10.0.0.1"], ["8.8.8.8", "::1"], [])
    url_policy = UrlPolicy(resolve=resolve)
    for _ in range(3):
        assert await is_refused(url_policy, "https://hook.example/")


async def test_what_cannot_be_found_is_refused_in_the_same_words_as_what_lies_inside() -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        raise OSError("no such name")

    assert await is_refused(UrlPolicy(resolve=resolve), "https://intranet.example/")


async def test_what_the_operator_calls_inside_may_be_reached_and_nothing_beside_it() -> None:
    resolve, _ = says(["10.1.2.3"], ["10.1.2.3"], ["10.2.0.1"], ["8.8.8.8"], ["10.1.2.3", "8.8.8.8"])
    url_policy = UrlPolicy(("10.1.0.0/16",), resolve)
    urls = ("http://chat.home/", "https://chat.home/", "https://chat.home/", "http://chat.home/", "http://chat.home/")
    assert [await is_refused(url_policy, url) for url in urls] == [False, False, True, True, True]


# --- on the way --------------------------------------------------------------------------------------------------------


def claimed(url: str) -> ClaimedDelivery:
    return ClaimedDelivery(Delivery("h", "msg_1", "ping", '{"id":"msg_1"}'), url, SECRET)


async def test_a_name_that_leads_inside_a_moment_later_leads_nobody_there() -> None:
    async with receiving() as inner:
        resolve, asked = says(["8.8.8.8"], ["127.0.0.1"])
        url_policy = UrlPolicy(resolve=resolve)
        url = await url_policy.check(f"https://hook.example:{inner.port}/")
        assert await Sender(url_policy).send(claimed(url)) == (None, "not_allowed")
        assert asked == ["hook.example", "hook.example"]
        assert inner.got == []


async def test_the_connection_goes_to_the_address_that_was_judged_under_the_name_that_was_given() -> None:
    """The name is asked for once, and the system, which knows no such name, not at all."""
    async with receiving() as server:
        resolve, asked = says(["127.0.0.1"], ["127.0.0.2"])
        sender = Sender(UrlPolicy(LOCAL, resolve))
        assert await sender.send(claimed(f"http://hook.example:{server.port}/a?b=c")) == (204, "204")
        [got] = server.got
    assert got.headers["host"] == f"hook.example:{server.port}"
    assert got.path == "/a?b=c"
    assert got.is_signed(SECRET)
    assert asked == ["hook.example"]


async def test_where_the_first_address_does_not_answer_the_next_one_is_asked() -> None:
    async with receiving() as server:
        resolve, _ = says(["127.0.0.9", "127.0.0.1"])
        assert await Sender(UrlPolicy(LOCAL, resolve)).send(claimed(f"http://hook.example:{server.port}/")) == (204, "204")


async def test_a_redirect_is_not_followed() -> None:
    async with receiving() as inner, receiving(inner.url) as outer:
        assert await Sender(UrlPolicy(LOCAL)).send(claimed(outer.url)) == (307, "307")
        assert inner.got == []


async def test_a_body_without_end_is_not_read() -> None:
    async with receiving("endless") as server:
        assert await Sender(UrlPolicy(LOCAL)).send(claimed(server.url)) == (200, "200")
        assert server.sent < 8_000_000  # what fits into the sockets between the two


async def test_nothing_of_one_attempt_is_left_for_the_next() -> None:
    async with receiving() as server:
        sender = Sender(UrlPolicy(LOCAL))
        for _ in range(2):
            await sender.send(claimed(server.url))
        assert [one.headers.get("cookie") for one in server.got] == [None, None]


async def test_proxies_of_the_environment_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    async with receiving() as proxy, receiving() as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
        assert await Sender(UrlPolicy(LOCAL)).send(claimed(server.url)) == (204, "204")
        assert proxy.got == []


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """That of hook.example, signed by itself, and its key."""
    folder = tmp_path_factory.mktemp("tls")
    words = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=hook.example -addext subjectAltName=DNS:hook.example"
    made = (folder / "certificate.pem", folder / "key.pem")
    subprocess.run(["openssl", *words.split(), "-out", made[0], "-keyout", made[1]], check=True, capture_output=True)
    return made


@pytest.mark.parametrize(("name", "expected"), [("hook.example", (204, "204")), ("other.example", (None, "no_connection"))])
async def test_the_certificate_is_that_of_the_name_though_the_address_is_connected_to(
    certificate: tuple[Path, Path], name: str, expected: tuple[int | None, str]
) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    heard: list[str | None] = []
    tls.sni_callback = lambda _, asked, __: heard.append(asked)
    async with receiving(tls=tls) as server:
        resolve, _ = says(["127.0.0.1"])
        sender = Sender(UrlPolicy(LOCAL, resolve), ssl.create_default_context(cafile=certificate[0]))
        assert await sender.send(claimed(f"https://{name}:{server.port}/")) == expected
        assert heard == [name]
        assert len(server.got) == (expected[0] is not None)


async def test_a_certificate_that_nobody_trusts_is_none(certificate: tuple[Path, Path]) -> None:
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(*certificate)
    async with receiving(tls=tls) as server:
        resolve, _ = says(["127.0.0.1"])
        assert await Sender(UrlPolicy(LOCAL, resolve)).send(claimed(f"https://hook.example:{server.port}/")) == (
            None,
            "no_connection",
        )
        assert server.got == []
