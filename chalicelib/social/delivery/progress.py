"""How far fan-outs have come, and those that failed, for authors and staff."""

from collections.abc import Mapping
from typing import Any

from pymongo import ASCENDING

from chalicelib.database import Collection, Document
from chalicelib.http import PageQuery
from chalicelib.http.pages import Cursors, paged
from chalicelib.runtime import Runtime
from chalicelib.social.delivery.leases import Delivered
from chalicelib.social.delivery.state import FanOut


def answer_of(stored: FanOut) -> dict[str, Any]:
    """Return a stored fan-out as `{state, delivered, total}`, the latter two in readers."""
    sizes = [chunk["size"] for chunk in stored["chunks"]]
    return {
        "state": stored["state"],
        "delivered": sum(sizes[number] for number in stored["chunks_done"]),
        "total": sum(sizes),
    }


def for_staff(stored: FanOut) -> dict[str, Any]:
    """Return a stored fan-out as `{state, delivered, total, reason}`."""
    return {**answer_of(stored), "reason": stored["reason"]}


def failed_of(
    runtime: Runtime, collection: Collection[Delivered], named: Mapping[str, str], query: PageQuery
) -> dict[str, Any]:
    """Return a page of a collection's failed fan-outs: `{fan_outs, next}`.

    `named` maps the fields of an answer to the fields of its document.
    """
    cursors = Cursors(f"failed:{collection.name}", runtime.settings.signing_keys)
    (after,) = cursors.position(query) or ("",)
    where: Document = {"fan_out.state": "failed", "_id": {"$gt": after}}
    rows = collection.of(runtime.database).find(where, [*named.values(), "fan_out"])
    page, last = paged(list(rows.sort("_id", ASCENDING).limit(query.limit + 1)), query.limit)
    answers = [
        {**{name: row[field] for name, field in named.items()}, **for_staff(row["fan_out"])}
        for row in page
    ]
    return {"fan_outs": answers, "next": cursors.following([last["_id"]] if last else None)}
