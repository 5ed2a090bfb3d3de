"""One question from outside: from which address, by whom, and which limits it has met."""

import asyncio
from dataclasses import dataclass, field
from ipaddress import IPv6Address, ip_address

from starlette.requests import HTTPConnection

from app.game.refusal import Refused, Why
from app.tables.limits import Limits, Policy, Verdict, Wish
from app.tables.tokens import Asker


@dataclass(eq=False)
class Visit:
    """`asker` None: not looked up yet. `void`: set when the token of this visit is revoked while it goes on."""

    address: str
    asker: Asker | None = None
    verdicts: list[Verdict] = field(default_factory=list)
    void: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def who(self) -> str:
        """Whose bucket is taken from: the token's, else the person's, else the address's."""
        if self.asker is not None and self.asker.token is not None:
            return f"t:{self.asker.token}"
        if self.asker is not None and self.asker.person is not None:
            return f"p:{self.asker.person.id}"
        return self.address

    async def take(self, limits: Limits, policy: Policy, who: str | None = None, cost: int = 1) -> None:
        """Raises `Refused` if that is too much now."""
        await self.meet(limits, Wish(policy, self.who if who is None else who, cost))

    async def meet(self, limits: Limits, *wishes: Wish) -> None:
        """Raises `Refused` if one of them is too much now."""
        verdicts = await limits.ask(*wishes)
        asked = {one.policy for one in verdicts}
        self.verdicts = [*(one for one in self.verdicts if one.policy not in asked), *verdicts]
        if not all(one.allowed for one in verdicts):
            raise Refused(Why.TOO_FAST)


def visit_of(connection: HTTPConnection) -> Visit:
    """The visit that this connection is, begun where nobody has."""
    state = connection.scope.setdefault("state", {})
    if "visit" not in state:
        state["visit"] = Visit(_address(connection))
    visit: Visit = state["visit"]
    return visit


def _address(connection: HTTPConnection) -> str:
    """Where it comes from; of an IPv6 address the half that one household has for itself."""
    host = "" if connection.client is None else connection.client.host
    try:
        address = ip_address(host)
    except ValueError:
        return f"a:{host}"
    if not isinstance(address, IPv6Address):
        return f"a:{address}"
    if address.ipv4_mapped is not None:
        return f"a:{address.ipv4_mapped}"
    return f"a:{IPv6Address(int(address) >> 64 << 64)}/64"
