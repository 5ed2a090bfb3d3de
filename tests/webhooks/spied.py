"""`coinche`, which says which thread sends a delivery."""

import threading

from app.__main__ import main
from app.tables.deliveries import ClaimedDelivery
from app.webhooks.sender import Sender

_send = Sender.send


async def _spy(self: Sender, claimed: ClaimedDelivery) -> tuple[int | None, str]:
    print(f"sent by thread {threading.current_thread().name}", flush=True)
    return await _send(self, claimed)


if __name__ == "__main__":
    Sender.send = _spy  # type: ignore[method-assign]
    main()
