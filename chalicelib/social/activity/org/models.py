"""Request bodies and answers of a person's place in the organisation."""

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
)

from chalicelib.http import Input
from chalicelib.identity import UserId
from chalicelib.social.activity.org.places import Place
from chalicelib.social.activity.refs import Name, RefId, distinct
from chalicelib.texts import at_most

MAX_ASSIGNED = 200


OrgUnit = Annotated[Name, at_most(100)]


class OrgSettings(Input):
    """Somebody's place in the organisation; fields that are left out are empty.

    `assigned` has the ids of the refs that they look after.
    """

    team: OrgUnit | None = None
    department: OrgUnit | None = None
    manager: UserId | None = None
    assigned: Annotated[list[RefId], Field(max_length=MAX_ASSIGNED), AfterValidator(distinct)] = (
        Field(default_factory=list)
    )


def org_answer(person: Place) -> dict[str, Any]:
    """Return somebody's place in the organisation as the API shows it."""
    return {
        "team": person["team"],
        "department": person["department"],
        "manager": person["manager"],
        "assigned": person["assigned"],
    }
