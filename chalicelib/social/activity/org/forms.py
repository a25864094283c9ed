"""Bodies and answers about places and mutes, which stand in the API's document."""

from typing import Annotated

from pydantic import AfterValidator, ConfigDict, Field
from typing_extensions import TypedDict

from chalicelib.http import Input
from chalicelib.people.ids import UserId
from chalicelib.social.activity.org.places import OrgPlace
from chalicelib.social.activity.refs import Name, RefId, distinct
from chalicelib.texts import ShownName, at_most

MAX_ASSIGNED = 200
MAX_MUTED = 1_000
_MAX_UNIT_CHARACTERS = 100

OrgUnit = Annotated[Name, at_most(_MAX_UNIT_CHARACTERS)]


class OrgSettings(Input):
    """A person's new place in the organisation; a missing field is empty.

    The person need not be a user of Plaza yet.
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
        description="The refs in the person's care, each once: actions about these rank higher.",
    )


class OrgAnswer(TypedDict):
    """A person's place in the organisation; without a place, all fields are empty."""

    team: ShownName | None
    department: ShownName | None
    manager_id: Annotated[
        UserId | None,
        Field(description="A user; what the two do ranks higher in each other's feeds."),
    ]
    assigned_ref_ids: Annotated[
        list[RefId],
        Field(
            max_length=MAX_ASSIGNED,
            description="The refs in the person's care: actions about these rank higher.",
        ),
    ]


class MutedAnswer(TypedDict):
    """The users whose actions your feed leaves out."""

    user_ids: Annotated[list[UserId], Field(max_length=MAX_MUTED, description="Sorted.")]


def org_answer(place: OrgPlace) -> OrgAnswer:
    """Return a place in the organisation as the API shows it."""
    return {
        "team": place["team"],
        "department": place["department"],
        "manager_id": place["manager"],
        "assigned_ref_ids": place["assigned"],
    }
