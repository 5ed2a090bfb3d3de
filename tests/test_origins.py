"""Addresses as an operator writes them and as browsers send them."""

import pytest

from app.origins import read_host, read_origin, read_url


@pytest.mark.parametrize(
    ("written", "sent"),
    [
        ("https://coinche.example.org", "https://coinche.example.org"),
        ("https://Coinche.Example.ORG/", "https://coinche.example.org"),
        ("HTTPS://coinche.example.org:443", "https://coinche.example.org"),
        ("http://coinche.example.org:80/", "http://coinche.example.org"),
        ("http://coinche.example.org:443", "http://coinche.example.org:443"),
        ("https://belote-et-ré.example", "https://xn--belote-et-r-lbb.example"),
        ("http://[2001:DB8:0::7]:8000", "http://[2001:db8::7]:8000"),
        ("http://192.0.2.7:8000", "http://192.0.2.7:8000"),
        ("http://my_pc", "http://my_pc"),
    ],
)
def test_what_is_clearly_meant_is_spelled_as_browsers_do(written: str, sent: str) -> None:
    assert read_origin(written) == sent
    assert read_url(written).url == sent


@pytest.mark.parametrize(
    ("written", "right"),
    [
        ("coinche.example.org", "https://coinche.example.org"),
        ("Coinche.example.org:8443/", "https://coinche.example.org:8443"),
        ("//coinche.example.org", "https://coinche.example.org"),
        ("wss://coinche.example.org", "https://coinche.example.org"),
        ("ws://coinche.example.org:80", "http://coinche.example.org"),
        ("https://coinche.example.org/?x=1", "https://coinche.example.org"),
        ("https://coinche.example.org#", "https://coinche.example.org"),
        ("https://me:secret@coinche.example.org", "https://coinche.example.org"),
        ("https://*.example.org", "https://coinche.example.org"),
        ("*", "https://coinche.example.org"),
        ("https://", "https://coinche.example.org"),
        ("https:/coinche.example.org", "https://coinche.example.org"),
        ("https://coinche.example.org:99999", "https://coinche.example.org"),
        ("https://coinche example.org", "https://coinche.example.org"),
        ("https://1.2.3", "https://coinche.example.org"),
        ("::1", "https://coinche.example.org"),
    ],
)
def test_what_no_browser_sends_is_refused_with_the_right_spelling(written: str, right: str) -> None:
    for read in (read_origin, read_url):
        with pytest.raises(ValueError, match=r"write ") as refused:
            read(written)
        assert str(refused.value).endswith(right)


def test_only_the_public_address_has_a_path() -> None:
    assert read_url("https://example.org/coinche/").path == "/coinche"
    assert read_url("https://example.org/games/coinche").url == "https://example.org/games/coinche"
    with pytest.raises(ValueError, match=r"write https://example\.org$"):
        read_origin("https://example.org/coinche")


@pytest.mark.parametrize("path", ["/t", "/api/x", "/static/", "/a//b", "/a/../b", "/a%20b", "/é", "/."])
def test_a_path_that_could_mean_something_else_is_refused(path: str) -> None:
    with pytest.raises(ValueError, match=r"https://example\.org/coinche"):
        read_url(f"https://example.org{path}")


@pytest.mark.parametrize(
    ("header", "host"),
    [
        ("Coinche.example.org", ("coinche.example.org", None)),
        ("localhost:8000", ("localhost", 8000)),
        ("[::1]:8000", ("[::1]", 8000)),
        ("[0:0::1]", ("[::1]", None)),
        ("127.0.0.1", ("127.0.0.1", None)),
    ],
)
def test_a_host_header_has_a_name_and_a_port(header: str, host: tuple[str, int | None]) -> None:
    assert read_host(header) == host


@pytest.mark.parametrize("header", ["", "a b", "x:y", "me@localhost", "localhost/", "a..b", "[::1", "127.1", "x" * 64, "\\"])
def test_a_host_header_that_names_nothing_is_refused(header: str) -> None:
    with pytest.raises(ValueError):
        read_host(header)
