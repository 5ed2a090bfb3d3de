"""HEAD answers as GET does, without the body."""

from collections.abc import AsyncIterator

import pytest

from tests.people import Person, Site, open_table, person

VARYING = {"date", "ratelimit", "content-length", "transfer-encoding"}

PATHS = (
    *("/", "/t/0a-k2m7q9x4wz", "/static/js/app.js", "/static/js/none.js", "/openapi.json", "/health/live", "/health/ready"),
    *("/api/v1/rules", "/api/v1/i18n/fr", "/api/v1/me", "/api/v1/me/tables", "/api/v1/tables", "/api/v1/tables?limit=x"),
    *("/api/v1/tables/{table}", "/api/v1/tables/{table}/game", "/api/v1/tables/0a-k2m7q9x4wz", "/api/v1/games", "/api/v1/none"),
)
STREAMS = ("/api/v1/tables/{table}/events", "/api/v1/me/events", "/api/v1/games/export")


@pytest.fixture
async def nina(site: Site) -> AsyncIterator[Person]:
    async with person(site.url, "Nina") as one:
        yield one


@pytest.mark.parametrize("path", PATHS)
async def test_head_tells_what_get_would(nina: Person, path: str) -> None:
    where = path.format(table=await open_table(nina))
    whole, head = await nina.http.get(where), await nina.http.head(where)
    assert (head.status_code, head.content) == (whole.status_code, b"")
    assert {*head.headers} >= {*whole.headers} - VARYING
    assert all(whole.headers.get(name) == value for name, value in head.headers.items() if name not in VARYING)


@pytest.mark.parametrize("kind", ["text/event-stream", "application/x-ndjson"])
@pytest.mark.parametrize("path", STREAMS)
async def test_head_of_a_stream_comes_to_an_end(site: Site, nina: Person, path: str, kind: str) -> None:
    where = path.format(table=await open_table(nina))
    before = len(site.parts.hub.clients)
    head = await nina.http.head(where, headers={"Accept": kind})
    assert (head.status_code, head.content) == (200, b"")
    assert (await nina.http.get("/api/v1/me")).status_code == 200
    assert len(site.parts.hub.clients) == before


@pytest.mark.parametrize("path", ["/api/v1/tables/{table}/ready", "/api/v1/referee"])
async def test_where_nothing_can_be_got_head_is_refused_too(nina: Person, path: str) -> None:
    where = path.format(table=await open_table(nina))
    head = await nina.http.head(where)
    assert (head.status_code, head.headers["allow"]) == (405, "POST")
