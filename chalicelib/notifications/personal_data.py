"""Notifications as personal data, by the protocol in `chalicelib.people.features`."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pymongo.database import Database

from chalicelib.database import Document, upsert
from chalicelib.notifications.mailing import MAILINGS
from chalicelib.notifications.push_rows import SUBSCRIPTIONS
from chalicelib.notifications.rows import INBOXES, ITEMS
from chalicelib.people.features import ExportEntry, Step, Trace, entry
from chalicelib.runtime import Runtime


def traces(database: Database[Document], user_id: str) -> list[Trace]:
    """Return the traces of a person: own rows, and items that the person caused for others."""
    items = ITEMS.of(database)
    by_others = "it is of the other person; the export has what this person wrote"
    return [
        Trace("notifications", items, {"user_id": user_id}, _show),
        Trace("notifications of others", items, {"by": user_id}, not_shown=by_others),
        Trace("inbox", INBOXES.of(database), {"_id": user_id}, _show_inbox),
        Trace("notification mail", MAILINGS.of(database), {"_id": user_id}, _show_mail),
        Trace("push", SUBSCRIPTIONS.of(database), {"user_id": user_id}, _show_push),
    ]


def _show(item: Mapping[str, Any]) -> list[ExportEntry]:
    fields = ("kind", "site", "thing", "at", "read")
    return [entry("notification", **{name: item[name] for name in fields})]


def _show_inbox(marks: Mapping[str, Any]) -> list[ExportEntry]:
    fields = ("off", "quiet")
    chosen = {name: marks[name] for name in fields if name in marks}
    return [entry("inbox", seen=marks["seen"], **chosen)]


def _show_mail(row: Mapping[str, Any]) -> list[ExportEntry]:
    fields = ("every", "hour", "weekday", "time_zone", "language", "email", "is_confirmed")
    return [entry("notification_mail", **{name: row.get(name) for name in fields})]


def _show_push(row: Mapping[str, Any]) -> list[ExportEntry]:
    fields = ("endpoint", "language", "time_zone", "made", "seen")
    return [entry("push", **{name: row[name] for name in fields})]


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Do nothing: notifications have ids of people, and no names."""
    del runtime, user_id, name


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Delete the rows of a person, and all items that the person caused.

    `until`: only items asked by then, and other rows without a later change.
    """
    # Items of an earlier release have `risen` alone.
    times: list[Document] = [{"asked": {"$lte": until}}, {"asked": None, "risen": {"$lte": until}}]
    asked: Document = {"$or": times} if until else {}
    items = ITEMS.of(runtime.database)
    items.delete_many({"user_id": user_id, **asked})
    items.delete_many({"by": user_id, **asked})
    changed: Document = {"changed": {"$lte": until}} if until else {}
    # A row without choices has no `changed`.
    marks: Document = {"seen": {"$lte": until}, "changed": {"$not": {"$gt": until}}}
    INBOXES.of(runtime.database).delete_one({"_id": user_id, **(marks if until else {})})
    MAILINGS.of(runtime.database).delete_one({"_id": user_id, **changed})
    seen: Document = {"seen": {"$lte": until}} if until else {}
    SUBSCRIPTIONS.of(runtime.database).delete_many({"user_id": user_id, **seen})
    return Step.DONE


def give(database: Database[Document], site: str, giver: str, to: str) -> None:
    """Transfer a person's items of a site to an account, and the items that the person caused.

    If the account has an item of the same event, that item stays. Items that the account now has
    caused for itself go.
    """
    items = ITEMS.of(database)
    for item in items.find({"user_id": giver, "site": site}):
        own = {**item, "_id": f"{to}:{item['key']}", "user_id": to}
        mine = {"_id": own["_id"], "user_id": to}
        upsert(items, mine, {"$setOnInsert": own})
        if item["wanted"]:
            # The account's own item may be taken back, while the person is still a recipient.
            items.update_one({**mine, "withheld": None}, {"$set": {"wanted": True}})
        items.delete_one({"_id": item["_id"], "user_id": giver})
    items.update_many({"by": giver, "site": site}, {"$set": {"by": to}})
    items.delete_many({"user_id": to, "by": to})
