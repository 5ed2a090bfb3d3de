"""Is the process alive, and can it serve? For operators and load balancers."""

from typing import Any

from fastapi import APIRouter, Response

from app.web.parts import PartsDep

router = APIRouter(prefix="/health", tags=["health"])

ESSENTIAL = ("redis",)
"""Without these nobody can play. With Postgres away games go on and only the history is late."""


@router.get("/live")
async def live() -> dict[str, str]:
    """The process answers."""
    return {"status": "live"}


@router.get("/ready")
async def ready(parts: PartsDep, response: Response) -> dict[str, Any]:
    """Which stores answer; 503 if tables cannot be played, or if the process is about to go."""
    stores = {name: await check() for name, check in parts.checks.items()}
    is_ready = all(stores[name] for name in ESSENTIAL) and not parts.hub.is_leaving
    response.status_code = 200 if is_ready else 503
    return {"status": "ready" if is_ready else "not ready", "stores": stores}
