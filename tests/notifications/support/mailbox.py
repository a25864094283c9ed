"""A reader of letters, with items of notifications whose comments exist."""

from collections.abc import Mapping, Sequence
from typing import Any

from chalicelib.identity import Principal
from chalicelib.mail.rows import LETTERS
from chalicelib.notifications import digests, events, mailing
from chalicelib.notifications.events import NotificationEvent
from chalicelib.notifications.inbox import ShownThing
from chalicelib.notifications.mailing import NEVER, Rhythm
from chalicelib.notifications.rows import NotificationItem
from chalicelib.runtime import Runtime

ANN = "ann@plaza.example"


def thing(number: str = "0", **changes: str) -> ShownThing:
    given = ShownThing("Ben", f"Reply {number}.", "moon", "Moon", "https://a.example/", "")
    return given._replace(**{"permalink": f"https://a.example/#plaza-{number}", **changes})


def show(
    _runtime: Runtime, _reader: Principal, items: Sequence[NotificationItem]
) -> Mapping[str, ShownThing]:
    """Show each item."""
    return {each["_id"]: thing(each["key"]) for each in items}


def turn_on(runtime: Runtime, user_id: str = "ann", email: str = ANN, **rhythm: Any) -> None:
    """Have a reader with a confirmed address ask for letters, at once unless told."""
    chosen = (
        NEVER._replace(every="at_once", **rhythm)
        if "every" not in rhythm
        else Rhythm(**{**NEVER._asdict(), **rhythm})
    )
    mailing.choose(runtime, user_id, chosen, email, sure=True)


def tell(runtime: Runtime, key: str = "1", who: str = "ann") -> None:
    """Tell a reader of an event now."""
    event = NotificationEvent(
        key=key,
        site="harbour",
        thing=f"moon/{key}",
        by="ben",
        at=runtime.now(),
        recipients={who: "comment.reply"},
        is_new=True,
    )
    events.agree(runtime, event, runtime.now())


def run(runtime: Runtime) -> int:
    return digests.send_due(runtime, show)


def written(runtime: Runtime) -> list[dict[str, Any]]:
    """Return the letters that wait."""
    return [dict(each) for each in LETTERS.of(runtime.database).find().sort("queued", 1)]


def state_of(runtime: Runtime, user_id: str = "ann") -> dict[str, Any]:
    found: Any = mailing.find(runtime, user_id)
    return dict(found)
