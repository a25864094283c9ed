"""The route of the caller's id, name and rights, from the token; a console calls it first."""

from typing import Annotated, get_args

from chalice.app import Blueprint
from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.http import Ok, Request, everybody, router
from chalicelib.identity import Principal, Role
from chalicelib.people.ids import UserId
from chalicelib.runtime import Runtime
from chalicelib.texts import ShownName

_ROLES: tuple[Role, ...] = get_args(Role)
# API Gateway takes 10 kB of headers; four characters of a token hold three bytes of claims.
_MAX_CLAIMS_BYTES = 7_680
ClaimedId = Annotated[str, Field(max_length=_MAX_CLAIMS_BYTES)]


class CallerAnswer(TypedDict):
    """Who calls, by their token."""

    id: Annotated[UserId, Field(examples=["henrike"])]
    name: Annotated[ShownName, Field(examples=["Henrike Voss"])]
    roles: Annotated[list[Role], Field(max_length=len(_ROLES))]
    sites: Annotated[
        # More sites do not fit into a token.
        Annotated[list[ClaimedId], Field(max_length=5_000)] | None,
        Field(
            json_schema_extra={"x-plaza-max-bytes": 7 * _MAX_CLAIMS_BYTES},
            description="The sites that the roles are held to; null if the token names none.",
            examples=[["harbour-post"]],
        ),
    ]
    advertiser: Annotated[
        ClaimedId | None,
        Field(description="The advertiser that the caller acts for.", examples=["north-bikes"]),
    ]


def routes(runtime: Runtime) -> Blueprint:
    """Return the blueprint of the route."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Caller")

    @route("GET", "/me", of_one_site=everybody)
    def get_caller(request: Request, caller: Principal) -> Ok[CallerAnswer]:
        """Read who calls: the id, name and rights that the token says.

        Roles that Plaza does not know are left out. It is answered from the token alone; what
        others see of a user is at `/users/me`.
        """
        del request
        return Ok(caller_answer(caller))

    return blueprint


def caller_answer(caller: Principal) -> CallerAnswer:
    """Return the caller's id, name, roles, sites and advertiser."""
    return {
        "id": caller.id,
        "name": caller.name,
        "roles": [role for role in _ROLES if role in caller.roles],
        "sites": None if caller.sites is None else sorted(caller.sites),
        "advertiser": caller.advertiser,
    }
