"""Whether Plaza can do its work."""

from http import HTTPStatus
from typing import Any

import pymongo
from chalice.app import Blueprint, Response
from pymongo.errors import PyMongoError

from chalicelib import __version__
from chalicelib.http import Request, reply, router
from chalicelib.observability.logs import log
from chalicelib.runtime import Runtime

# Whoever asks wants to know whether it answers now, not after an election.
TIMEOUT_SECONDS = 3


def routes(runtime: Runtime) -> Blueprint:
    """Return the health check's route."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)

    @route("GET", "/health")
    def get_health(request: Request) -> Response:
        caller = request.caller()
        state = replica_set_state(request.runtime)
        healthy = state == "primary"
        body: dict[str, Any] = {"status": "ok" if healthy else "unavailable"}
        # Version and state help an attacker to choose, and nobody else without a token.
        if caller is not None and caller.has("admin"):
            body["version"] = __version__
            body["database"] = {"reachable": state is not None, "replica_set": state}
        return reply(body, HTTPStatus.OK if healthy else HTTPStatus.SERVICE_UNAVAILABLE)

    return blueprint


def replica_set_state(runtime: Runtime) -> str | None:
    """Return `primary`, `no_primary` or `standalone`, or None where no server answers.

    A sharded cluster's router counts as a primary: it takes writes.
    """
    try:
        with pymongo.timeout(TIMEOUT_SECONDS):
            hello: dict[str, Any] = runtime.database.client.admin.command("hello")
    except PyMongoError:
        log.warning("health check: the database does not answer", exc_info=True)
        return None
    if "setName" not in hello and hello.get("msg") != "isdbgrid":
        return "standalone"
    return "primary" if hello.get("isWritablePrimary") else "no_primary"
