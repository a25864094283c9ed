"""Personal data of hooks: the id of the publisher who registered the hook."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.people.features import ExportEntry, Step, Trace, entry
from chalicelib.runtime import Runtime
from chalicelib.webhooks.rows import HOOKS


def traces(database: Database[Document], user_id: str) -> list[Trace]:
    """Return the trace of the hooks that a publisher registered."""
    return [Trace("webhooks", HOOKS.of(database), {"by": user_id}, _show)]


def _show(hook: Mapping[str, Any]) -> list[ExportEntry]:
    fields = ("site", "url", "kinds", "made")
    return [entry("webhook", id=hook["_id"], **{name: hook[name] for name in fields})]


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Do nothing: hooks have ids of people, and no names."""
    del runtime, user_id, name


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Delete a publisher's id from hooks; the hooks stay, because they belong to their sites.

    `until`: only from hooks made up to this instant.
    """
    own: Document = {"by": user_id, **({"made": {"$lte": until}} if until else {})}
    HOOKS.of(runtime.database).update_many(own, {"$set": {"by": None}})
    return Step.DONE
