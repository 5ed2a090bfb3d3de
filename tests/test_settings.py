"""What an operator may set, and whether the README tells of it."""

import os
import re
from pathlib import Path

import pytest

from app import settings
from app.settings import Settings

README = Path(__file__).parents[1] / "README.md"


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("COINCHE_") or name in ("REDIS_URL", "DATABASE_URL"):
            monkeypatch.delenv(name)


def test_the_readme_lists_every_setting_with_its_default() -> None:
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \| (.*?) \|", README.read_text(), re.MULTILINE))
    defaults = {name: field.default for name, field in Settings.model_fields.items()}
    assert rows == {
        settings.variable(name): f"`{value}`" if value not in (None, ()) else "" for name, value in defaults.items()
    }


def test_every_setting_is_described() -> None:
    assert all(field.description for field in Settings.model_fields.values())


def test_without_any_setting_it_is_for_this_machine_alone() -> None:
    assert settings.read().host == "127.0.0.1"


def test_origins_are_a_list_with_commas(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COINCHE_ORIGINS", "https://a.example.org/, https://b.example.org,")
    assert settings.read().origins == ("https://a.example.org", "https://b.example.org")


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+asyncpg"])
def test_a_postgres_url_may_be_written_as_anywhere_else(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setenv("DATABASE_URL", f"{scheme}://me:secret@db/coinche")
    assert settings.read().database_url == "postgresql+asyncpg://me:secret@db/coinche"


def test_a_wrong_url_is_refused_without_showing_its_password(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "mysql://me:secret@db/coinche")
    with pytest.raises(ValueError, match="DATABASE_URL") as refused:
        settings.read()
    assert "secret" not in str(refused.value)


def test_proxies_are_addresses_or_networks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COINCHE_PROXIES", "192.0.2.7, 2001:db8::/32,")
    assert settings.read().proxies == ("192.0.2.7/32", "2001:db8::/32")


@pytest.mark.parametrize("name", ["proxy.example.org", "*", "192.0.2.7/24"])
def test_a_proxy_by_name_is_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("COINCHE_PROXIES", name)
    with pytest.raises(ValueError, match="COINCHE_PROXIES"):
        settings.read()
