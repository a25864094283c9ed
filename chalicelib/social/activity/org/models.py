"""Request bodies and answers of a person's place in the organisation."""

from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    Field,
)

from chalicelib.database import Document
from chalicelib.http import Input
from chalicelib.identity import UserId
from chalicelib.social.activity.refs import Name, RefId, distinct
from chalicelib.texts import at_most

MAX_ASSIGNED = 200


OrgUnit = Annotated[Name, at_most(100)]


class OrgSettings(Input):
    """Where somebody stands in the organisation; what is left out is nothing.

    `assigned` has the ids of the refs that are theirs to look after.
    """

    team: OrgUnit | None = None
    department: OrgUnit | None = None
    manager: UserId | None = None
    assigned: Annotated[list[RefId], Field(max_length=MAX_ASSIGNED), AfterValidator(distinct)] = (
        Field(default_factory=list)
    )


def org_answer(person: Document) -> dict[str, Any]:
    """Return somebody's place in the organisation as the API shows it."""
    return {name: person[name] for name in OrgSettings.model_fields}
