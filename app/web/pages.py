"""The page and its files, with the headers that keep it to itself."""

from http import HTTPStatus

from fastapi import APIRouter, FastAPI, Request, Response
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app import metrics
from app.game.refusal import Why
from app.web import assets
from app.web.address import AddressMiddleware, PublicAddress, unknown_host_page
from app.web.errors import problem
from app.web.identity import bearer_of
from app.web.parts import Parts

_HEADERS = {
    "Content-Security-Policy": "; ".join(
        (
            "default-src 'self'",
            "connect-src 'self' ws: wss:",
            "object-src 'none'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
            "form-action 'self'",
        )
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
}

router = APIRouter(include_in_schema=False)


@router.get("/")
@router.get("/t/{table}")
@router.get("/g/{table}/{number}")
async def page(request: Request) -> Response:
    """The one page; it reads its own address."""
    return _page(request)


@router.get("/favicon.ico")
async def icon(request: Request) -> Response:
    """What browsers ask for on their own, where an answer is not the page."""
    return RedirectResponse(f"/static/{assets.version()}/icon.svg", HTTPStatus.FOUND)


def _page(request: Request, status: int = HTTPStatus.OK) -> Response:
    language = assets.language_of(request.cookies.get(assets.LANGUAGE_COOKIE), request.headers.get("accept-language", ""))
    parts: Parts = request.app.state.parts
    address = parts.address
    made = assets.page(address.site, language, address.cookie_of(request) is not None)
    return made.respond(request.headers, status=status, vary=", Accept-Language, Cookie")


async def nothing_there(request: Request, error: Exception) -> Response:
    """People are shown the page, which says so and leads back; programs are told of a problem."""
    is_for_programs = request.url.path.startswith(("/api/", "/static/"))
    if "text/html" in request.headers.get("accept", "") and not is_for_programs:
        return _page(request, HTTPStatus.NOT_FOUND)
    return problem(Why.NOT_FOUND)


class Guard:
    """Adds the headers to every answer, and turns away what would change something for a foreign page."""

    def __init__(self, app: ASGIApp, address: PublicAddress) -> None:
        self._app = app
        self._address = address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Cache-Control", "no-store" if scope["path"].startswith("/api/") else "no-cache")
            await send(message)

        answer = self._refusal(HTTPConnection(scope))
        if answer is not None:
            await answer(scope, receive, with_headers)
            return
        await self._app(scope, receive, with_headers)

    def _refusal(self, asking: HTTPConnection) -> Response | None:
        """What is answered instead where this name or page may not ask. The health of a process is told to everybody."""
        path, changes = asking.scope["path"], asking.scope["method"] not in ("GET", "HEAD", "OPTIONS")
        if path.startswith("/health/"):
            return None
        why = self._address.refusal(asking, changes, bearer_of(asking) is not None)
        if why is None:
            return None
        metrics.refusals.labels(why.value).inc()
        if why is Why.UNKNOWN_HOST and not path.startswith("/api/"):
            return unknown_host_page(asking.headers["host"], self._address.variable)
        return problem(why)


def install(app: FastAPI, address: PublicAddress) -> None:
    """Serve the page, its files and the headers, at this address."""
    app.include_router(router)
    app.mount("/static", assets.serve, name="static")
    app.add_exception_handler(HTTPStatus.NOT_FOUND, nothing_there)
    app.add_middleware(Guard, address=address)
    app.add_middleware(AddressMiddleware, address=address)
