"""Audit log: one structured line for each call that writes or needs a role.

A call that writes has a line whatever its outcome, unless its route sets `is_audited` to False. A
line has ids and amounts, but no texts, names, tokens or secrets. docs/operations/security.md has
queries for these lines.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import unquote

from chalicelib.identity import Principal
from chalicelib.observability.logs import log

# Longer than any id; longer values of a path are cut.
_MAX_CHARACTERS = 100


class CalledRoute(NamedTuple):
    """The method and the route of a call."""

    method: str
    route: str


def record(
    caller: Principal | None,
    operation: CalledRoute,
    things: Mapping[str, str],
    status: int,
    details: Mapping[str, Any],
) -> None:
    """Write the audit line of a call.

    `things` are the ids in its path, as sent. `details` are the route's notes: the id of a new
    thing, accounts and amounts.
    """
    fields: dict[str, Any] = {
        "caller": None if caller is None else caller.id,
        "roles": [] if caller is None else sorted(caller.roles),
        "method": operation.method,
        "route": operation.route,
        "things": {name: unquote(value)[:_MAX_CHARACTERS] for name, value in things.items()},
        "status": int(status),
    }
    if details:
        fields["details"] = details
    log.info("audit", extra={"fields": fields})
