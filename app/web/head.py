"""HEAD, wherever there is a GET: what that would answer, without its body."""

import asyncio

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.web.ear import unless


class Head:
    """Asks the application for the whole and stops it where the body begins, which may have no end."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self._app(scope, receive, send)
            return
        begun = asyncio.Event()

        async def begin(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
                begun.set()

        async def whole() -> None:
            await self._app({**scope, "method": "GET"}, receive, begin)

        await unless(whole(), begun.wait())
        await send({"type": "http.response.body"})
