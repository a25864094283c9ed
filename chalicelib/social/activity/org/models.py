"""What the API takes of a person's place in the organisation."""

from typing import Annotated

from pydantic import (
    AfterValidator,
    ConfigDict,
    Field,
)

from chalicelib.http import Input
from chalicelib.people.ids import UserId
from chalicelib.social.activity.refs import Name, RefId, distinct
from chalicelib.texts import at_most

MAX_ASSIGNED = 200
MAX_MUTED = 1_000
_MAX_UNIT_CHARACTERS = 100

OrgUnit = Annotated[Name, at_most(_MAX_UNIT_CHARACTERS)]


class OrgSettings(Input):
    """Somebody's place in the organisation, instead of the one before; what is left out is empty.

    They need not be a user of Plaza yet.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "team": "outdoors",
                    "department": "newsroom",
                    "manager_id": "mara",
                    "assigned_ref_ids": ["applicant-nils"],
                }
            ]
        }
    )

    team: OrgUnit | None = Field(
        None,
        description="Actions of the scope `team` go to all its members. Up to 100 characters.",
    )
    department: OrgUnit | None = Field(
        None,
        description="Actions of the scope `department` go to all its members. Up to 100 "
        "characters.",
    )
    manager_id: UserId | None = Field(
        None, description="A user; what the two do ranks higher in each other's feeds."
    )
    assigned_ref_ids: Annotated[
        list[RefId], Field(max_length=MAX_ASSIGNED), AfterValidator(distinct)
    ] = Field(
        default_factory=list,
        description="The refs that they look after, each once: actions about these rank higher.",
    )
