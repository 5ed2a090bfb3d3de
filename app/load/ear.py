"""What does one client hear of a table? Its messages, written into the book in their order."""

from app.load.book import At, Book, Json, Stood, Told


class Ear:
    """What one connection of one client hears, in order."""

    def __init__(self, book: Book, seat: int) -> None:
        self._book = book
        self._seat = seat
        self._at: At | None = None
        self.game = 0

    def hear(self, message: Json) -> None:
        """Write the message into the table's book."""
        match message["type"]:
            case "welcome":
                self._at = tuple(message["at"])
                self.game = message["table"]["games"]
                away = frozenset(place["seat"] for place in message["table"]["seats"] if place["away"])
                self._book.stand(self._at, self.game, Stood(message["turn"], away))
            case "step":
                self._step(message)
            case "ack":
                self._book.acknowledged(message["cid"], tuple(message["at"]))
            case "refused" if message["cid"] is not None:
                self._book.refuse(message["cid"], message["why"])

    def _step(self, message: Json) -> None:
        at: At = tuple(message["at"])
        if self._at is not None and at != (self._at[0], self._at[1] + 1):
            self._book.differ(f"seat {self._seat} was sent the step of {at} after that of {self._at}")
        self._at = at
        view = message["view"]
        for event in message["events"]:
            if event["kind"] == "game_started":
                self.game = event["number"]
            elif event["kind"] == "hands_dealt":
                self._book.hold(self.game, event["deal"], self._seat, event["hands"][self._seat])
        deal = 0 if view is None else view["deal"]
        public = tuple(_without_hands(event) for event in message["events"])
        told = Told(self.game, deal, message["turn"], tuple(message["next"]), public)
        self._book.tell(at, told, view is not None and view["phase"] != "over")


def _without_hands(event: Json) -> Json:
    return {name: value for name, value in event.items() if name != "hands"}
