"""Where the parts are joined: settings, stores, use cases, web."""

from fastapi import FastAPI

from app.settings import Settings


def build(settings: Settings, redis_url: str, database_url: str) -> FastAPI:
    """The application on these two servers; it connects when its lifespan begins."""
    app = FastAPI(title="coinche")

    @app.get("/health/live")
    async def live() -> dict[str, str]:
        return {"status": "live"}

    return app
