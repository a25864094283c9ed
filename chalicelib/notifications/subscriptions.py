"""The browsers that a person has subscribed to push messages.

The `_id` of a row is the hash of its endpoint alone. So the next person who subscribes the same
browser takes the row over by one write, and no reader gets another reader's notifications.
"""

from typing import Any

from pymongo import ReturnDocument

from chalicelib.languages import Language
from chalicelib.notifications.push_rows import SUBSCRIPTIONS, PushSubscription
from chalicelib.push.browsers import Browser
from chalicelib.runtime import Runtime

# The most browsers of a person; beyond it, the oldest registration goes.
MAX_BROWSERS = 10


def browser_of(row: PushSubscription) -> Browser:
    """Return the browser of a row."""
    return Browser(row["endpoint"], row["p256dh"], row["auth"])


def register(
    runtime: Runtime, user_id: str, browser: Browser, language: Language, time_zone: str
) -> PushSubscription:
    """Store a person's browser, and return its row; a repeat keeps an owed push message.

    A browser of another person becomes this person's, without an owed push message.
    """
    rows, now = SUBSCRIPTIONS.of(runtime.database), runtime.now()
    mine = {"_id": browser.id, "user_id": user_id}
    told: Any = {"language": language, "time_zone": time_zone, "seen": now}
    fields = {**told, **browser._asdict(), "key": runtime.settings.vapid_public_key}
    # A subscription stays with its `key`, even if the deployment has another key now.
    same = {**mine, "p256dh": browser.p256dh}
    for where, changed in ((same, told), (mine, fields)):
        known = rows.find_one_and_update(
            where, {"$set": changed}, return_document=ReturnDocument.AFTER
        )
        if known is not None:
            return known
    owed_nothing = {"made": now, "since": now, "wakes": 0, "tries": 0, "claimed": None}
    new: Any = {**mine, **fields, **owed_nothing}
    rows.replace_one({"_id": browser.id}, new, upsert=True)
    _trim(runtime, user_id)
    stored: PushSubscription = new
    return stored


def _trim(runtime: Runtime, user_id: str) -> None:
    """Remove a person's browsers beyond MAX_BROWSERS; safe against concurrent registrations."""
    rows = SUBSCRIPTIONS.of(runtime.database)
    newest = rows.find({"user_id": user_id}, {"_id": 1}).sort([("seen", -1), ("_id", -1)])
    for each in list(newest.skip(MAX_BROWSERS)):
        rows.delete_one({"_id": each["_id"], "user_id": user_id})


def read(runtime: Runtime, user_id: str) -> list[PushSubscription]:
    """Return a person's browsers, the newest registration first."""
    found = SUBSCRIPTIONS.of(runtime.database).find({"user_id": user_id})
    return list(found.sort([("seen", -1), ("_id", -1)]).limit(MAX_BROWSERS))


def remove(runtime: Runtime, user_id: str, subscription_id: str) -> None:
    """Remove a browser of a person; do nothing for another person's browser, or a missing one."""
    mine = {"_id": subscription_id, "user_id": user_id}
    SUBSCRIPTIONS.of(runtime.database).delete_one(mine)


def remove_all(runtime: Runtime, user_id: str) -> None:
    """Remove all browsers of a person after an account has taken over the person's past.

    Otherwise a browser that the person no longer uses could get the account's push messages.
    """
    SUBSCRIPTIONS.of(runtime.database).delete_many({"user_id": user_id})
