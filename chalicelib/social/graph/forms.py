"""Bodies and answers of the graph's routes, which stand in the API's document."""

from typing import Annotated, NotRequired

from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.assets import pictures
from chalicelib.http import MAX_PAGE, Input
from chalicelib.http.paging import Next
from chalicelib.people.ids import UserId
from chalicelib.social.graph.audience import MAX_CIRCLES, Reader
from chalicelib.social.graph.circle_keys import ids_of
from chalicelib.social.graph.profiles import ShownCircles, ShownProfile, picture_fields, readable
from chalicelib.social.graph.store import GraphPerson
from chalicelib.social.graph.users import PublicUser
from chalicelib.texts import PersonName, ShownName

CircleId = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]


class CircleSettings(Input):
    """A circle's name, which may be any line of text: it is never a key."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"name": "Birders"}]})

    name: PersonName = Field(description="At most 100 characters on one line.")


# Members listed with each circle; a separate page lists all.
MEMBERS_LISTED = 200


class PersonAnswer(TypedDict):
    """A user, by id and name."""

    id: Annotated[UserId, Field(examples=["rosa"])]
    name: Annotated[
        ShownName,
        Field(
            description="A new name reaches every copy of it within moments.",
            examples=["Rosa Engel"],
        ),
    ]


class FollowCountsAnswer(TypedDict):
    """The number of a user's followers, and of users whom the user follows."""

    followers: int
    following: int


class UserAnswer(TypedDict):
    """A user, as the caller sees it."""

    id: Annotated[UserId, Field(examples=["rosa"])]
    name: Annotated[ShownName, Field(examples=["Rosa Engel"])]
    profile: Annotated[ShownProfile, Field(description="The fields that the caller may read.")]
    profile_circles: NotRequired[
        Annotated[
            ShownCircles,
            Field(
                description="The circles that may read a field, by field, unless it is public; "
                "only the user sees them."
            ),
        ]
    ]
    counts: FollowCountsAnswer


class CircleAnswer(TypedDict):
    """A circle of the caller's, with its first members."""

    id: CircleId
    name: ShownName
    members: Annotated[
        list[PersonAnswer],
        Field(
            max_length=MEMBERS_LISTED,
            description="The first by id; `GET /users/me/circles/{circle}/members` has all.",
        ),
    ]


class CirclesAnswer(TypedDict):
    """The caller's circles, by id."""

    circles: Annotated[list[CircleAnswer], Field(max_length=MAX_CIRCLES)]


class FollowersAnswer(TypedDict):
    """A page of a user's followers, by id."""

    followers: Annotated[list[PersonAnswer], Field(max_length=MAX_PAGE)]
    next: Next


class MembersAnswer(TypedDict):
    """A page of the members of a circle, by id."""

    members: Annotated[list[PersonAnswer], Field(max_length=MAX_PAGE)]
    next: Next


def user_answer(user: PublicUser, reader: Reader, base: str) -> UserAnswer:
    """Return a user as the API shows it to a reader; `base` is the API's address."""
    counts, circles = user["counts"], user.get("profile_circles", {})
    answer: UserAnswer = {
        "id": user["_id"],
        "name": user["name"],
        "profile": pictures.to_addresses(
            picture_fields(), readable(user["profile"], circles, user["_id"], reader), base
        ),
        "counts": {"followers": counts["followers"], "following": counts["following"]},
    }
    if reader.id == user["_id"]:
        own_circles = {name: ids_of(keys) for name, keys in circles.items()}
        answer["profile_circles"] = readable(own_circles, {}, user["_id"], reader)
    return answer


def person_answer(person: GraphPerson) -> PersonAnswer:
    """Return a user as listings name them."""
    return {"id": person.id, "name": person.name}
