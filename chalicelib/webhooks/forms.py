"""Requests and answers of webhooks."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, StringConstraints
from typing_extensions import TypedDict

from chalicelib.http import Input, without_defaults
from chalicelib.http.paging import Next
from chalicelib.ids import ID_PATTERN
from chalicelib.instants import Instant
from chalicelib.sites.ids import SiteId
from chalicelib.webhooks.kinds import KINDS, EventKindName, Kind
from chalicelib.webhooks.rows import MAX_HOOKS, Delivery, DeliveryState, Hook, HookState

MAX_URL_CHARACTERS = 2_000
MOST = 100
HookId = Annotated[str, Field(pattern=ID_PATTERN)]
DeliveryId = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,150}:[A-Za-z0-9_-]{16}$")]
HookUrl = Annotated[
    str,
    StringConstraints(min_length=1, max_length=MAX_URL_CHARACTERS),
    Field(
        description="A public https address on port 443.",
        examples=["https://harbour.example/plaza-events"],
    ),
]
HookKinds = Annotated[
    list[Kind],
    Field(min_length=1, max_length=len(KINDS), description="The kinds of events that it gets."),
]


class NewHook(Input):
    """A webhook to register."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "url": "https://harbour.example/plaza-events",
                    "kinds": ["comment.created", "comment.state_changed"],
                }
            ]
        }
    )

    url: HookUrl
    kinds: HookKinds


def _with_example(schema: dict[str, Any]) -> None:
    without_defaults(schema)
    schema["examples"] = [{"state": "off"}]


class HookChange(Input):
    """Changes of a webhook; other fields stay."""

    model_config = ConfigDict(json_schema_extra=_with_example)

    url: HookUrl = Field(default="")
    kinds: HookKinds = Field(default=[])
    state: Literal["on", "off"] = Field(
        default="on", description="`on` also switches on what Plaza has switched off."
    )


class HookAnswer(TypedDict):
    """A webhook of a site, without its secret."""

    id: HookId
    site: SiteId
    url: Annotated[str, Field(max_length=MAX_URL_CHARACTERS)]
    kinds: Annotated[list[Kind], Field(max_length=len(KINDS))]
    state: Annotated[
        HookState,
        Field(
            description="`gone`: its receiver answered 410; `failing`: it took nothing for five "
            "days. Plaza sends to `on` alone."
        ),
    ]
    made_at: Instant
    failing_since: Instant | None


class SecretHookAnswer(HookAnswer):
    """A webhook with its new secret, which only a repeat of the call shows again."""

    secret: Annotated[str, Field(pattern=r"^whsec_[A-Za-z0-9+/]{43}=$")]


class HooksAnswer(TypedDict):
    """The webhooks of a site."""

    webhooks: Annotated[list[HookAnswer], Field(max_length=MAX_HOOKS)]


class DeliveryAnswer(TypedDict):
    """A delivery of an event to a webhook: under way, sent or failed."""

    id: DeliveryId
    event: Annotated[str, Field(max_length=150, description="The header `webhook-id`.")]
    kind: EventKindName
    state: DeliveryState
    tries: Annotated[int, Field(ge=0)]
    tried_at: Instant | None
    status: Annotated[
        int | None, Field(description="Of the last answer; null: no answer came.", ge=100, le=999)
    ]
    made_at: Instant
    due_at: Annotated[Instant | None, Field(description="No try comes before; null: none comes.")]


class DeliveriesAnswer(TypedDict):
    """A page of a webhook's deliveries, the newest first."""

    deliveries: Annotated[list[DeliveryAnswer], Field(max_length=MOST)]
    next: Next


class SentAnswer(TypedDict):
    """A delivery that is on its way."""

    delivery: DeliveryId


def hook_answer(hook: Hook) -> HookAnswer:
    """Return a hook as its publisher sees it."""
    return {
        "id": hook["_id"],
        "site": hook["site"],
        "url": hook["url"],
        "kinds": hook["kinds"],
        "state": hook["state"],
        "made_at": hook["made"],
        "failing_since": hook["failing_since"],
    }


def delivery_answer(row: Delivery) -> DeliveryAnswer:
    """Return a delivery as its publisher sees it."""
    return {
        "id": row["_id"],
        "event": row["_id"].rpartition(":")[0],
        "kind": row["kind"],
        "state": row["state"],
        "tries": row["tries"],
        "tried_at": row["tried"],
        "status": row["status"],
        "made_at": row["made"],
        "due_at": row["next"] if row["state"] == "due" else None,
    }
