"""Routes of a person's choices of notifications."""

from typing import Annotated, Self

from pydantic import ConfigDict, Field, model_validator
from typing_extensions import TypedDict

from chalicelib.http import Input, Ok, Request, Route, everybody
from chalicelib.identity import Principal
from chalicelib.notifications import preferences
from chalicelib.notifications.errors import KindAlwaysOn
from chalicelib.notifications.preferences import ALWAYS_ON, KINDS, Channel, Preferences
from chalicelib.notifications.rows import Kind
from chalicelib.people.features import CheckToken
from chalicelib.runtime import Runtime

Hour = Annotated[int, Field(ge=0, le=23)]


class KindChoice(Input):
    """The channels of a kind of notifications."""

    in_app: bool = Field(default=True, description="In the inbox, from now on.")
    email: bool | None = Field(
        None, description="In letters, too; left out: as `in_app`. Not without `in_app`."
    )

    push: bool | None = Field(
        None, description="As push messages, too; left out: as `in_app`. Not without `in_app`."
    )

    @model_validator(mode="after")
    def _check_inbox(self) -> Self:
        if (self.email or self.push) and not self.in_app:
            raise ValueError("letters and push messages have what the inbox has")
        return self

    @property
    def channels(self) -> frozenset[Channel]:
        """The channels that deliver the kind; a missing choice is as `in_app`."""
        chosen: dict[Channel, bool | None] = {
            "in_app": self.in_app,
            "email": self.email,
            "push": self.push,
        }
        return frozenset(
            name for name, is_on in chosen.items() if (self.in_app if is_on is None else is_on)
        )


class QuietHours(Input):
    """Hours without letters and push messages, in the time zone of the letters or the browser."""

    begin: Hour = Field(alias="from", description="The first quiet hour.")
    end: Hour = Field(alias="to", description="They come again at this hour.")

    @model_validator(mode="after")
    def _check_hours(self) -> Self:
        if self.begin == self.end:
            raise ValueError("`from` and `to` are the same")
        return self


class PreferencesChoice(Input):
    """A person's choices, which replace the earlier."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "kinds": {"post.reaction": {"in_app": True, "email": False}},
                    "quiet": {"from": 22, "to": 7},
                }
            ]
        }
    )

    kinds: dict[Kind, KindChoice] = Field(
        default_factory=dict,
        max_length=len(KINDS),
        description="A kind that is left out comes by all channels.",
    )
    quiet: QuietHours | None = Field(None, description="Left out: they come at any hour.")


class KindChoiceAnswer(TypedDict):
    """The channels of a kind of notifications."""

    in_app: bool
    email: bool
    push: bool


QuietHoursAnswer = TypedDict("QuietHoursAnswer", {"from": Hour, "to": Hour})
QuietHoursAnswer.__doc__ = "Hours without letters and push messages."


class PreferencesAnswer(TypedDict):
    """A person's choices, with all kinds."""

    kinds: Annotated[dict[Kind, KindChoiceAnswer], Field(max_length=len(KINDS))]
    always_on: Annotated[
        list[Kind],
        Field(max_length=len(KINDS), description="Kinds whose `in_app` cannot be off."),
    ]
    quiet: Annotated[QuietHoursAnswer | None, Field(description="null: none.")]


def declare(route: Route, check_token: CheckToken) -> None:
    """Declare the routes."""

    @route("GET", "/notifications/preferences", of_one_site=everybody)
    def get_notification_preferences(request: Request, caller: Principal) -> Ok[PreferencesAnswer]:
        """Return the channels of each kind of notifications, and your quiet hours."""
        return Ok(_answer(request.runtime, caller.id))

    @route("PUT", "/notifications/preferences", of_one_site=everybody, raises=(KindAlwaysOn,))
    def put_notification_preferences(
        request: Request, caller: Principal, body: PreferencesChoice
    ) -> Ok[PreferencesAnswer]:
        """Choose the channels of each kind of notifications, and your quiet hours.

        If a kind is off at the time of an event, the event never notifies you, even after you
        switch the kind on. Letters and push messages that are due in quiet hours come when the
        quiet hours end, and include all later notifications.
        """
        check_token(request.runtime, caller)
        chosen = ((kind, each.channels) for kind, each in body.kinds.items())
        quiet = body.quiet
        wanted = Preferences(
            preferences.kinds_off(chosen),
            None if quiet is None else {"begin": quiet.begin, "end": quiet.end},
        )
        preferences.choose(request.runtime, caller.id, wanted)
        return Ok(_answer(request.runtime, caller.id))


def _answer(runtime: Runtime, user_id: str) -> PreferencesAnswer:
    chosen = preferences.find(runtime, user_id)
    kinds: dict[Kind, KindChoiceAnswer] = {
        kind: {
            "in_app": chosen.has("in_app", kind),
            "email": chosen.has("email", kind),
            "push": chosen.has("push", kind),
        }
        for kind in KINDS
    }
    quiet = chosen.quiet
    hours: QuietHoursAnswer | None = quiet and {"from": quiet["begin"], "to": quiet["end"]}
    always_on = [kind for kind in KINDS if ("in_app", kind) in ALWAYS_ON]
    return {"kinds": kinds, "always_on": always_on, "quiet": hours}
