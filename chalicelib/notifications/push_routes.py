"""Routes of the browsers that a person has subscribed to push messages."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.http import Input, NoContent, Ok, Request, Route, everybody
from chalicelib.identity import Principal
from chalicelib.instants import Instant
from chalicelib.languages import Language
from chalicelib.notifications import subscriptions
from chalicelib.notifications.mailing import NEVER
from chalicelib.notifications.push_rows import PushSubscription
from chalicelib.notifications.subscriptions import MAX_BROWSERS
from chalicelib.people.features import CheckToken
from chalicelib.push import browsers
from chalicelib.push.browsers import MAX_ENDPOINT_CHARACTERS, Browser
from chalicelib.push.errors import PushOff, UnknownPushService
from chalicelib.texts import ShownLine
from chalicelib.time_zones import Zone

_KEY_CHARACTERS, _AUTH_CHARACTERS = 87, 22


def _check_point(text: str) -> str:
    if not browsers.is_point(text):
        raise ValueError("not an uncompressed point of P-256 in base64url")
    return text


def _check_secret(text: str) -> str:
    if not browsers.is_secret(text):
        raise ValueError("not 16 bytes in base64url")
    return text


_Point = Annotated[
    str,
    StringConstraints(min_length=_KEY_CHARACTERS, max_length=_KEY_CHARACTERS),
    AfterValidator(_check_point),
]
_AuthSecret = Annotated[
    str,
    StringConstraints(min_length=_AUTH_CHARACTERS, max_length=_AUTH_CHARACTERS),
    AfterValidator(_check_secret),
]
SubscriptionId = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{43}$"),
    Field(description="The SHA-256 of the endpoint, in base64url."),
]


class BrowserKeys(Input):
    """The keys of a `PushSubscription` of a browser."""

    p256dh: _Point
    auth: _AuthSecret


class PushChoice(Input):
    """A subscription, as `PushSubscription.toJSON()` of a browser has it."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "endpoint": "https://updates.push.services.mozilla.com/wpush/v2/gAAAAA",
                    "keys": {
                        "p256dh": "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcx"
                        "aOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
                        "auth": "BTBZMqHH6r4Tts7J_aSIgg",
                    },
                    "language": "en",
                    "time_zone": "Europe/Berlin",
                }
            ]
        }
    )

    endpoint: Annotated[str, StringConstraints(max_length=MAX_ENDPOINT_CHARACTERS)]
    keys: BrowserKeys
    language: Language = NEVER.language
    time_zone: Zone = Field(NEVER.time_zone, description="The clock of your quiet hours here.")


class PushBrowserAnswer(TypedDict):
    """A subscribed browser; its endpoint and its keys are never shown."""

    id: SubscriptionId
    service: Annotated[ShownLine, Field(description="The host of its push service.")]
    language: Language
    time_zone: Zone
    made: Instant
    seen: Annotated[Instant, Field(description="The last `PUT` of it.")]


class PushBrowsersAnswer(TypedDict):
    """Your subscribed browsers, the newest registration first."""

    browsers: Annotated[list[PushBrowserAnswer], Field(max_length=MAX_BROWSERS)]


class PushKeyAnswer(TypedDict):
    """The key of this deployment, for `PushManager.subscribe()`."""

    key: Annotated[
        str, Field(max_length=_KEY_CHARACTERS, description="`applicationServerKey`, in base64url.")
    ]


def declare(route: Route, check_token: CheckToken) -> None:
    """Declare the routes."""

    @route("GET", "/notifications/push/key", of_one_site=everybody, raises=(PushOff,))
    def get_push_key(request: Request) -> Ok[PushKeyAnswer]:
        """Return the public key that browsers subscribe for (VAPID, RFC 8292)."""
        if not browsers.is_on(request.runtime):
            raise PushOff
        return Ok({"key": request.runtime.settings.vapid_public_key})

    @route("GET", "/notifications/push/browsers", of_one_site=everybody)
    def list_push_browsers(request: Request, caller: Principal) -> Ok[PushBrowsersAnswer]:
        """Return the browsers that get your notifications as push messages."""
        rows = subscriptions.read(request.runtime, caller.id)
        return Ok({"browsers": [_browser(row) for row in rows]})

    _declare_changes(route, check_token)


def _declare_changes(route: Route, check_token: CheckToken) -> None:
    @route(
        "PUT", "/notifications/push", of_one_site=everybody, raises=(PushOff, UnknownPushService)
    )
    def put_push_browser(
        request: Request, caller: Principal, body: PushChoice
    ) -> Ok[PushBrowserAnswer]:
        """Have a browser get your notifications as push messages; a repeat adds no second browser.

        They come a minute or two after a notification that you have neither seen nor read. A
        browser of another person becomes yours. Beyond ten, your oldest registration goes.
        """
        here = request.runtime
        check_token(here, caller)
        if not browsers.is_on(here):
            raise PushOff
        if not browsers.is_served(here, body.endpoint):
            raise UnknownPushService
        browser = Browser(body.endpoint, body.keys.p256dh, body.keys.auth)
        row = subscriptions.register(here, caller.id, browser, body.language, body.time_zone)
        return Ok(_browser(row))

    @route("DELETE", "/notifications/push/browsers/{subscription}", of_one_site=everybody)
    def delete_push_browser(
        request: Request, caller: Principal, subscription: SubscriptionId
    ) -> NoContent:
        """Have a browser of yours get no more push messages; an unknown id changes nothing."""
        subscriptions.remove(request.runtime, caller.id, subscription)
        return NoContent()


def _browser(row: PushSubscription) -> PushBrowserAnswer:
    return {
        "id": row["_id"],
        "service": urlsplit(row["endpoint"]).hostname or "",
        "language": row["language"],
        "time_zone": row["time_zone"],
        "made": row["made"],
        "seen": row["seen"],
    }
