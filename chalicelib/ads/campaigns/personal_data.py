"""Campaigns as personal data: the id of each campaign's maker (`chalicelib.people.features`)."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from pymongo.database import Database

from chalicelib.ads.inventory.campaigns import CAMPAIGNS
from chalicelib.database import Document
from chalicelib.people.features import ExportEntry, Step, Trace, entry
from chalicelib.runtime import Runtime


def traces(database: Database[Document], user_id: str) -> list[Trace]:
    """Return the campaigns that a person made."""
    return [Trace("campaigns", CAMPAIGNS.of(database), {"by": user_id}, _show)]


def _show(campaign: Mapping[str, Any]) -> list[ExportEntry]:
    return [entry("campaign", id=campaign["_id"], made=campaign["made"])]


def rename(runtime: Runtime, user_id: str, name: str) -> None:
    """Do nothing: campaigns have ids of people, and no names."""
    del runtime, user_id, name


def erase(runtime: Runtime, user_id: str, until: datetime | None = None) -> Step:
    """Remove a person as the maker of campaigns; the campaigns stay with their advertisers.

    `until`: only from campaigns made up to then.
    """
    own: Document = {"by": user_id, **({"made": {"$lte": until}} if until else {})}
    CAMPAIGNS.of(runtime.database).update_many(own, {"$set": {"by": None}})
    return Step.DONE
