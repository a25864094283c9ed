"""A small API of things, with one route for each thing that a router does."""

from collections.abc import Callable
from datetime import date
from typing import Annotated

from chalice.app import Blueprint, Chalice, Response
from chalice.local import LocalChalice
from pydantic import Field, StringConstraints

from chalicelib.deadlines import Outage
from chalicelib.errors import Misconfigured, Unavailable
from chalicelib.http import (
    Input,
    PageQuery,
    Request,
    Retired,
    Route,
    middleware,
    reply,
    router,
)
from chalicelib.observability import invocations
from chalicelib.runtime import Runtime
from tests.support.http_client import Reply

ThingId = Annotated[str, StringConstraints(pattern=r"^[a-z/]{1,8}$")]


JSON = {"Content-Type": "application/json"}


class Thing(Input):
    name: str = Field(max_length=5)
    size: int = 1


def things(runtime: Runtime) -> Blueprint:
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime)

    @route("PUT", "/things/{thing}")
    def put_thing(request: Request, thing: ThingId) -> Response:
        return reply({"id": thing, **request.body(Thing).model_dump()})

    @route("PUT", "/lists", body_limit_bytes=1_000_000)
    def put_lists(request: Request) -> Response:
        return reply(request.body(Thing))

    @route("PUT", "/owned/{thing}")
    def put_owned(request: Request, thing: ThingId) -> Response:
        request.principal()
        request.details["amount_micros"] = 7
        return reply({"id": thing, **request.body(Thing).model_dump()})

    @route("DELETE", "/secrets/{secret}", secrets=("secret",))
    def delete_secret(_request: Request, secret: str) -> Response:
        return reply({"length": len(secret)})

    @route("GET", "/things")
    def get_things(request: Request) -> Response:
        return reply(request.query(PageQuery))

    @route("GET", "/retired", retired=Retired(date(2026, 1, 1), date(2026, 7, 1)))
    def get_retired(_request: Request) -> Response:
        return reply({})

    @route("GET", "/public")
    def get_public(_request: Request) -> Response:
        return reply({}, headers={"Cache-Control": "public, max-age=5"})

    @route("GET", "/staff")
    def get_staff(request: Request) -> Response:
        return reply({"id": request.principal("moderator").id})

    _declare_failures(route)
    return blueprint


def _declare_failures(route: Route) -> None:
    @route("GET", "/crash")
    def crash(_request: Request) -> Response:
        raise ZeroDivisionError("the secret of the house")

    @route("GET", "/misconfigured")
    def misconfigured(_request: Request) -> Response:
        raise Misconfigured("PLAZA_SECRET is not set")

    @route("GET", "/busy")
    def busy(_request: Request) -> Response:
        raise Unavailable(retry_after_seconds=7)


def app_with(runtime: Runtime, routes: Callable[[Runtime], Blueprint]) -> Chalice:
    app = LocalChalice(app_name="plaza", configure_logs=False)
    outage = Outage(runtime.database.client)
    invocations.install(app, outage)
    middleware.install(app, runtime.settings, outage)
    app.register_blueprint(routes(runtime))
    middleware.answer_further_methods(app)
    return app


def app_with_things(runtime: Runtime) -> Chalice:
    return app_with(runtime, things)


def fields(reply: Reply) -> dict[str, str]:
    """Return the code of each field that the answer finds fault with."""
    assert reply.status == 422
    assert reply.code == "invalid_request"
    return {error["field"]: error["code"] for error in reply.json["errors"]}
