"""Why does the game, the table or the server say no? One enumeration for the engine, the socket, REST and the referee."""

from enum import StrEnum


class Why(StrEnum):
    """The reasons of a refusal; their words are in the language files."""

    # The game
    NOT_NOW = "not_now"
    NOT_YOUR_TURN = "not_your_turn"
    BID_TOO_LOW = "bid_too_low"
    BID_TOO_HIGH = "bid_too_high"
    BID_OFF_STEP = "bid_off_step"
    CAPOT_STANDS = "capot_stands"
    TRUMP_NOT_OFFERED = "trump_not_offered"
    NOTHING_TO_COINCHE = "nothing_to_coinche"
    OWN_BID = "own_bid"
    OTHER_BID = "other_bid"
    COINCHED = "coinched"
    NOT_COINCHED = "not_coinched"
    NOT_IN_HAND = "not_in_hand"
    MUST_FOLLOW = "must_follow"
    MUST_GO_HIGHER = "must_go_higher"
    MUST_TRUMP = "must_trump"
    MUST_OVERTRUMP = "must_overtrump"
    NO_BELOTE = "no_belote"
    NO_REDEAL = "no_redeal"
    BAD_PACK = "bad_pack"

    # Rules and the referee's questions
    UNKNOWN_PRESET = "unknown_preset"
    UNKNOWN_OPTION = "unknown_option"
    WRONG_VALUE = "wrong_value"
    SENSELESS_OPTIONS = "senseless_options"
    MISSING = "missing"
    WRONG_TYPE = "wrong_type"
    WRONG_COUNT = "wrong_count"
    CARD_TWICE = "card_twice"
    UNKNOWN_CARD = "unknown_card"
    UNKNOWN_TRUMP = "unknown_trump"
    SEAT_OUT_OF_RANGE = "seat_out_of_range"
    UNKNOWN_OP = "unknown_op"
    INCONSISTENT = "inconsistent"

    # The table
    NO_SUCH_TABLE = "no_such_table"
    NOT_SEATED = "not_seated"
    SEAT_TAKEN = "seat_taken"
    TABLE_FULL = "table_full"
    NOT_HOST = "not_host"
    NOT_READY = "not_ready"
    GAME_RUNNING = "game_running"
    NO_GAME = "no_game"
    STALE_TURN = "stale_turn"
    NO_HOUSE_PLAYER = "no_house_player"
    NOBODY_THERE = "nobody_there"
    TOO_MANY_GAMES = "too_many_games"
    NEWER_RELEASE = "newer_release"
    STILL_HERE = "still_here"
    CLOCK_RUNNING = "clock_running"
    BUSY = "busy"

    # The edge
    NOT_SIGNED_IN = "not_signed_in"
    BAD_TOKEN = "bad_token"
    MISSING_SCOPE = "missing_scope"
    TOO_MANY = "too_many"
    BAD_URL = "bad_url"
    HOOK_OFF = "hook_off"
    BAD_NAME = "bad_name"
    BAD_REQUEST = "bad_request"
    BAD_CURSOR = "bad_cursor"
    BAD_ORIGIN = "bad_origin"
    UNKNOWN_HOST = "unknown_host"
    TOO_LARGE = "too_large"
    TOO_FAST = "too_fast"
    WRONG_MEDIA_TYPE = "wrong_media_type"
    NOT_FOUND = "not_found"
    NOT_ALLOWED = "not_allowed"
    INTERNAL = "internal"


class Refused(Exception):
    """The answer is no and nothing has changed. `field` names the part of the question that is at fault, where one is."""

    def __init__(self, why: Why, field: str | None = None) -> None:
        super().__init__(why.value if field is None else f"{why.value}: {field}")
        self.why = why
        self.field = field
