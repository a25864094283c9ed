"""Repeat in a restored database what happened after its restore point, elsewhere or to people.

The database comes back as it was at the point. Three things outside of it did not: erasures that
people were promised, payments that the provider took, and assets in a bucket. Run it before the API
starts, since people who come again would be erased anew; a second run changes nothing more. The
deployment's settings stand in the environment.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple

from chalicelib.assets import catalogue
from chalicelib.assets.blobs import BlobGone, store_of
from chalicelib.assets.errors import UnknownAsset
from chalicelib.assets.shapes import ASSETS, UPLOADS, WASTE, Asset, Version, owner_of_person
from chalicelib.people import jobs
from chalicelib.runtime import Runtime
from chalicelib.settings import InvalidSettings
from chalicelib.shop.orders.shapes import ORDERS
from chalicelib.shop.payments import providers
from chalicelib.shop.payments.port import Charge, PaymentRefused, TakenPayment
from chalicelib.wiring.people import PEOPLE

# One key for each payment, so that a second run refunds nothing more.
_REFUND_KEY = "restored"
# The clocks of the provider and of the database.
_OVERLAP = timedelta(minutes=10)
_ERASURE = ("DELETE", "/users/me")
_REMOVALS = frozenset(
    {
        "/content/{site}/assets/{asset}/versions/{number}",
        "/users/me/assets/{asset}/versions/{number}",
    }
)


class Removal(NamedTuple):
    """A removed version of an owner's asset."""

    owner: str
    asset: str
    number: int


class Replay(NamedTuple):
    """The calls of the audit log that a restore must not undo."""

    erasures: list[str]
    removals: list[Removal]


class Done(NamedTuple):
    """The results of a run: lines for the operator."""

    erased: list[str]
    removed: list[Removal]
    missing: list[Removal]
    unnamed: list[str]
    payments: list[TakenPayment]


def read_audit(lines: Iterable[str], since: datetime) -> Replay:
    """Return the erasures and removals that the audit log has after a time.

    Lines of other kinds are skipped, and so is the text before a line's JSON.
    """
    erasures: set[str] = set()
    removals: list[Removal] = []
    for entry in _entries(lines):
        if datetime.fromisoformat(entry["time"]) < since:
            continue
        if entry["status"] >= HTTPStatus.MULTIPLE_CHOICES:
            continue
        if (entry["method"], entry["route"]) == _ERASURE:
            erasures.add(entry["caller"])
        elif entry["method"] == "DELETE" and entry["route"] in _REMOVALS:
            things = entry["things"]
            owner = things.get("site") or owner_of_person(entry["caller"])
            removals.append(Removal(owner, things["asset"], int(things["number"])))
    return Replay(sorted(erasures), removals)


def _entries(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        start = line.find("{")
        if start < 0:
            continue
        try:
            found = json.loads(line[start:])
        except ValueError:
            continue
        if isinstance(found, dict) and found.get("message") == "audit":
            yield found


def restore(runtime: Runtime, since: datetime, replay: Replay, *, refunds: bool) -> Done:
    """Do everything that the restored database lacks; return it for the operator.

    With `refunds`, payments without an order are given back.
    """
    for user in replay.erasures:
        jobs.begin_erasure(runtime, PEOPLE, user)
    removed = [each for each in replay.removals if _take_down(runtime, each)]
    missing = [each for each in _missing_versions(runtime) if _take_down(runtime, each)]
    unnamed = _waste_unnamed_blobs(runtime)
    payments = list(payments_without_order(runtime, since))
    if refunds:
        for payment in payments:
            _refund(runtime, payment)
    return Done(replay.erasures, removed, missing, unnamed, payments)


def _take_down(runtime: Runtime, removal: Removal) -> bool:
    try:
        catalogue.take_down(runtime, *removal)
    except UnknownAsset:
        return False
    return True


def _missing_versions(runtime: Runtime) -> Iterator[Removal]:
    """Yield the versions whose bytes are in no store any more."""
    for asset in ASSETS.of(runtime.database).find().sort("_id"):
        for version in asset["versions"]:
            if "gone" not in version and not _is_stored(runtime, version):
                yield Removal(asset["owner"], asset["_id"], version["n"])


def _is_stored(runtime: Runtime, version: Version) -> bool:
    last = max(version["length"] - 1, 0)
    try:
        store_of(runtime, version["store"]).read(version["blob"], last, version["length"])
    except BlobGone:
        return False
    return True


def _waste_unnamed_blobs(runtime: Runtime) -> list[str]:
    """Have the blobs of the bucket removed that no asset and no upload names; return them."""
    if not runtime.settings.asset_bucket:
        return []
    stored = list(store_of(runtime, "s3").names())
    # After the listing: a blob that is newer than it is not judged.
    named = {blob for asset in ASSETS.of(runtime.database).find() for blob in _blobs_of(asset)}
    for upload in UPLOADS.of(runtime.database).find():
        named |= {upload["_id"], upload["clean"] or upload["_id"]}
    unnamed = [blob for blob in stored if blob not in named]
    for blob in unnamed:
        row = {"store": "s3", "asset": "", "due": runtime.now()}
        WASTE.of(runtime.database).update_one({"_id": blob}, {"$setOnInsert": row}, upsert=True)
    return unnamed


def _blobs_of(asset: Asset) -> Iterator[str]:
    return (version["blob"] for version in asset["versions"])


def payments_without_order(runtime: Runtime, since: datetime) -> Iterator[TakenPayment]:
    """Yield the provider's payments from a time on whose order is gone.

    The shop's schedule finds the payments of the other orders by itself.
    """
    name = runtime.settings.payments
    if name is None:
        return
    provider, after = providers.provider_of(runtime, name), None
    while True:
        page = provider.list_payments(since - _OVERLAP, after)
        known = {"_id": {"$in": [each.order for each in page.found]}}
        orders = {row["_id"] for row in ORDERS.of(runtime.database).find(known, {"_id": 1})}
        yield from (each for each in page.found if each.order not in orders)
        after = page.after
        if after is None:
            return


def _refund(runtime: Runtime, payment: TakenPayment) -> None:
    """Give a payment back, once; raises PaymentRefused."""
    provider = providers.provider_of(runtime, runtime.settings.payments or "fake")
    charge = Charge(payment.order, payment.amount_micros, payment.currency, email="")
    refunds = provider.statement(charge, payment.intent).refunds
    given = sum(each.amount_micros for each in refunds if not each.is_failed)
    left = payment.amount_micros - given
    if left > 0:
        provider.refund(charge, payment.intent, left, _REFUND_KEY)


def report(done: Done, *, refunds: bool) -> Iterator[str]:
    """Yield the lines that the operator reads."""
    people = ", ".join(done.erased) or "-"
    yield f"{len(done.erased)} people are erased again by the worker: {people}"
    for title, found in (("were removed", done.removed), ("have no bytes", done.missing)):
        named = ", ".join(f"{each.asset}/{each.number}" for each in found)
        yield f"{len(found)} versions of assets {title} and are shown no more: {named or '-'}"
    yield f"{len(done.unnamed)} files of the bucket belong to nothing and go with the next sweep"
    told = "given back" if refunds else "not given back: run again with --refund"
    yield f"{len(done.payments)} payments have no order{f', {told}' if done.payments else ''}"
    for each in done.payments:
        yield f"  {each.intent}: {each.amount_micros / 1_000_000:.2f} {each.currency}, {each.order}"


def main() -> None:
    """Run by the settings of the environment, and print what was done."""
    parser = argparse.ArgumentParser(prog="script/restored", description=__doc__)
    parser.add_argument("--since", required=True, help="the restore point, as 2026-11-25T14:00:00Z")
    parser.add_argument("--audit", type=Path, help="a file with the log's lines after the point")
    parser.add_argument("--refund", action="store_true", help="give payments without order back")
    given = parser.parse_args()
    since = datetime.fromisoformat(given.since)
    if since.tzinfo is None:
        parser.error("--since needs a time zone, such as Z")
    lines = given.audit.read_text().splitlines() if given.audit else []
    try:
        runtime = Runtime.from_environment(os.environ)
        done = restore(runtime, since, read_audit(lines, since), refunds=given.refund)
    except (InvalidSettings, PaymentRefused) as failure:
        sys.exit(f"script/restored: {failure}")
    print(*report(done, refunds=given.refund), sep="\n")


if __name__ == "__main__":
    main()
