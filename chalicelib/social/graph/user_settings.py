"""The body of `PUT /users/me`: not in `forms`, as `users` needs it and `forms` needs `users`."""

from pydantic import ConfigDict, Field

from chalicelib.http import Input
from chalicelib.social.graph.audience import ALL_CIRCLES, PUBLIC
from chalicelib.social.graph.profiles import SentCircles, SentProfile
from chalicelib.texts import PersonName


class UserSettings(Input):
    """A user's own name and profile; missing fields stay."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "name": "Rosa Engel",
                    "profile": {"location": "Harbour", "interests": ["choirs", "sourdough"]},
                    "profile_circles": {"interests": ["*circles*"]},
                }
            ]
        }
    )

    name: PersonName | None = Field(
        None,
        description="At most 100 characters on one line. Names that look like staff are reserved.",
    )
    profile: SentProfile | None = Field(
        None, description="Replaces the whole profile; left out, the profile stays."
    )
    profile_circles: SentCircles | None = Field(
        None,
        description="The readers of each field of the profile: ids of your circles, or "
        f"`{ALL_CIRCLES}` alone for all circles; `{PUBLIC}` alone equals a missing field. Replaces "
        "the whole; left out, it stays.",
    )
