"""The sample application: types of actions in recruiting, which its import registers."""

from typing import Annotated, Literal

from pydantic import Field

from chalicelib.people.ids import UserId
from chalicelib.social.activity.actions.types import Descriptor, register
from chalicelib.social.activity.refs import Name, RefId
from chalicelib.texts import Paragraphs, at_most

UserName = Annotated[
    Name | None, Field(description="The user's own name; Plaza ignores a sent name.")
]
Text = Annotated[Paragraphs, at_most(2_000)]


class _Application(Descriptor):
    """An applicant and the position."""

    position_id: RefId
    position_name: Name
    applicant_id: RefId
    applicant_name: Name


@register
class ApplicationRating(_Application):
    """A user rated an applicant, with a score of 0 to 5."""

    type: Literal["application_rating"]
    rater_id: UserId
    rater_name: UserName = None
    rating_score: Annotated[float, Field(ge=0, le=5, description="5 is the best.")]
    rating_text: Text | None = Field(
        None, description="At most 2,000 characters, of several lines."
    )


@register
class NewApplicant(_Application):
    """An applicant applied for a position."""

    type: Literal["new_applicant"]


@register
class ApplicantHired(_Application):
    """A user hired an applicant."""

    type: Literal["applicant_hired"]
    hired_by_id: UserId
    hired_by_name: UserName = None


@register
class RatingRequested(_Application):
    """A user requested a rating of an applicant."""

    type: Literal["rating_requested"]
    requester_id: UserId
    requester_name: UserName = None
