"""The health check: whether the database takes writes and lets Plaza read."""

from http import HTTPStatus
from typing import Any, Literal, NotRequired

import pymongo
from chalice.app import Blueprint
from pymongo.errors import PyMongoError
from typing_extensions import TypedDict

from chalicelib import __version__
from chalicelib.http import Answer, Ok, Request, router
from chalicelib.http.idempotency import KEYS
from chalicelib.http.responses import Body_co
from chalicelib.identity import Principal
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime
from chalicelib.texts import ShownName

# Short: the check is about this moment, not about the time after an election.
TIMEOUT_SECONDS = 3
State = Literal["primary", "no_primary", "standalone"]


class DatabaseHealth(TypedDict):
    """The state of the database from this container; `replica_set` is None if out of reach."""

    reachable: bool
    replica_set: State | None
    readable: bool


class Health(TypedDict):
    """Whether Plaza can do its work."""

    status: Literal["ok", "unavailable"]
    version: NotRequired[ShownName]
    database: NotRequired[DatabaseHealth]


class Failing(Answer[Body_co]):
    """503: the database has no primary, is not reached, or refuses Plaza's reads."""

    status = HTTPStatus.SERVICE_UNAVAILABLE


def routes(runtime: Runtime) -> Blueprint:
    """Return the blueprint of the health check's route."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Operation")

    @route("GET", "/health")
    def get_health(request: Request, caller: Principal | None) -> Ok[Health] | Failing[Health]:
        """Say whether Plaza can do its work.

        Only an admin reads Plaza's version and the state of the database.
        """
        with pymongo.timeout(TIMEOUT_SECONDS):
            state = replica_set_state(request.runtime)
            is_readable = state is not None and may_read(request.runtime)
        is_ok = state == "primary" and is_readable
        health: Health = {"status": "ok" if is_ok else "unavailable"}
        # Without a token, they would help only an attacker.
        if caller is not None and caller.has("admin"):
            health["version"] = __version__
            health["database"] = {
                "reachable": state is not None,
                "replica_set": state,
                "readable": is_readable,
            }
        return Ok(health) if is_ok else Failing(health, {"Retry-After": "1"})

    return blueprint


def replica_set_state(runtime: Runtime) -> State | None:
    """Return `primary`, `no_primary` or `standalone`; None: no server answers.

    A sharded cluster's router counts as a primary: it takes writes.
    """
    try:
        hello: dict[str, Any] = runtime.database.client.admin.command("hello")
    except PyMongoError:
        log.warning("health check: the database does not answer", exc_info=True)
        return None
    if "setName" not in hello and hello.get("msg") != "isdbgrid":
        return "standalone"
    return "primary" if hello.get("isWritablePrimary") else "no_primary"


def may_read(runtime: Runtime) -> bool:
    """Return whether Plaza can read; `hello` proves nothing, since it needs no login."""
    try:
        KEYS.of(runtime.database).find_one({"_id": "health"})
    except PyMongoError:
        log.warning("health check: the database refuses a read", exc_info=True)
        return False
    return True
