"""The forms in which the API answers about places in the organisation, and mutes."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.people.ids import UserId
from chalicelib.social.activity.org.models import MAX_ASSIGNED, MAX_MUTED
from chalicelib.social.activity.org.places import Place
from chalicelib.social.activity.refs import RefId
from chalicelib.texts import ShownName


class OrgAnswer(TypedDict):
    """Somebody's place in the organisation; all of it is empty for somebody without one."""

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
            description="The refs that they look after: actions about these rank higher.",
        ),
    ]


class MutedAnswer(TypedDict):
    """The users whose actions your feed leaves out."""

    user_ids: Annotated[list[UserId], Field(max_length=MAX_MUTED, description="Sorted.")]


def org_answer(place: Place) -> OrgAnswer:
    """Return somebody's place in the organisation as the API shows it."""
    return {
        "team": place["team"],
        "department": place["department"],
        "manager_id": place["manager"],
        "assigned_ref_ids": place["assigned"],
    }
