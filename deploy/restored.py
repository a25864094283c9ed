"""Repeat in a restored database what happened after its restore point, elsewhere or to people.

The database comes back as it was at the point. Some things outside of it did not: erasures and
deletions that people were promised, payments that the provider took, and assets in a bucket. Run it
before the API starts, since people who come again would be erased anew; a second run changes
nothing more. The deployment's settings stand in the environment. The exit code is 1 if a line of
the log was not read, a file may be cut, or a payment was not given back: after everything else.
"""

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from chalicelib.assets import catalogue
from chalicelib.assets.blobs import BlobGone, store_of
from chalicelib.assets.errors import AssetInUse, StoreUnavailable, UnknownAsset
from chalicelib.assets.shapes import ASSETS, UPLOADS, WASTE, Asset, Version
from chalicelib.comments.people import changing
from chalicelib.comments.people.rows import Status, status_of
from chalicelib.comments.transfers.rows import TRANSFERS
from chalicelib.errors import Unavailable
from chalicelib.notifications import mailing
from chalicelib.people import jobs
from chalicelib.runtime import LONGEST_RUN, Runtime
from chalicelib.settings import InvalidSettings
from chalicelib.shop.errors import OrderUnfinished
from chalicelib.shop.orders import personal_data
from chalicelib.shop.orders.shapes import ORDERS, find
from chalicelib.shop.payments import providers
from chalicelib.shop.payments.port import Charge, PaymentRefused, TakenPayment
from chalicelib.wiring.people import PEOPLE
from deploy.replay import Removal, Replay, Standing, may_be_cut, read_audit

# One key for each payment, so that a second run refunds nothing more.
_REFUND_KEY = "restored"
# The clocks of the provider and of the database may differ.
_OVERLAP = timedelta(minutes=10)


class Orders(NamedTuple):
    """The orders whose buyer is erased again, and the orders that are not over yet."""

    erased: list[str]
    unfinished: list[str]


class Deleted(NamedTuple):
    """The assets that are deleted again, and the assets that something still shows."""

    deleted: list[str]
    in_use: list[str]


class Undecided(NamedTuple):
    """A decision on a person that the database lacks, and the person's name and status there."""

    decided: Standing
    name: str
    status: Status


class Refusal(NamedTuple):
    """A payment that the provider did not give back, and the reason."""

    intent: str
    reason: str

    def __str__(self) -> str:
        return f"{self.intent} ({self.reason})"


class Done(NamedTuple):
    """The results of a run: lines for the operator.

    `unnamed` is None if the settings name no bucket, `payments` if they name no provider.
    """

    calls: int
    unread: list[int]
    erased: list[str]
    orders: Orders
    assets: Deleted
    removed: list[Removal]
    missing: list[Removal]
    unnamed: list[str] | None
    people: list[Undecided]
    payments: list[TakenPayment] | None
    imported: list[str]
    stopped: list[str]
    refused: list[Refusal]


def restore(runtime: Runtime, since: datetime, replay: Replay, *, refunds: bool) -> Done:
    """Repeat everything that the restored database lacks; return the results for the operator.

    With `refunds`, refund payments without an order. Raises StoreUnavailable, before any change, if
    the settings lack a store that has assets.
    """
    for asset in ASSETS.of(runtime.database).find({}, {"versions": 1}):
        for version in asset["versions"]:
            if "gone" not in version:
                store_of(runtime, version["store"])
    erased = sorted(replay.erasures)
    for user in erased:
        jobs.begin_erasure(runtime, PEOPLE, user)
    for person in sorted(replay.stopped):
        mailing.stop(runtime, person)
    payments = payments_without_order(runtime, since)
    return Done(
        calls=replay.calls,
        unread=replay.unread,
        erased=erased,
        orders=_erase_buyers(runtime, replay),
        assets=_delete_assets(runtime, replay),
        removed=[each for each in sorted(replay.removals) if _take_down(runtime, each)],
        missing=[each for each in _missing_versions(runtime) if _take_down(runtime, each)],
        unnamed=_waste_unnamed_blobs(runtime),
        people=list(_undecided(runtime, replay)),
        payments=payments,
        imported=sorted(replay.imported),
        stopped=sorted(replay.stopped),
        refused=list(_refund_all(runtime, payments or [])) if refunds else [],
    )


def _erase_buyers(runtime: Runtime, replay: Replay) -> Orders:
    """Erase the buyers of single orders; skip orders that the restored database lacks."""
    orders = Orders([], [])
    for each in sorted(replay.orders):
        order = find(runtime.database, each)
        if order is None:
            continue
        try:
            personal_data.erase_buyer(runtime, order, order["email"] or "")
        except OrderUnfinished:
            orders.unfinished.append(each)
        else:
            orders.erased.append(each)
    return orders


def _delete_assets(runtime: Runtime, replay: Replay) -> Deleted:
    assets = Deleted([], [])
    for owner, asset in sorted(replay.deletions):
        try:
            catalogue.delete(runtime, owner, asset)
        except UnknownAsset:
            continue
        except AssetInUse:
            assets.in_use.append(asset)
        else:
            assets.deleted.append(asset)
    return assets


def _undecided(runtime: Runtime, replay: Replay) -> Iterator[Undecided]:
    """Yield the decisions on people that a moderator has to make again.

    The log lacks the end of a suspension, so this yields every suspension.
    """
    for _, decided in sorted(replay.standings.items()):
        person = changing.find(runtime.database, decided.site, decided.user)
        status = status_of(person, runtime.now())
        if status != decided.status or status == "suspended":
            yield Undecided(decided, person["name"], status)


def _take_down(runtime: Runtime, removal: Removal) -> bool:
    try:
        catalogue.take_down(runtime, *removal)
    except UnknownAsset:
        return False
    return True


def _missing_versions(runtime: Runtime) -> Iterator[Removal]:
    """Yield the versions whose store no longer has their bytes."""
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


def _waste_unnamed_blobs(runtime: Runtime) -> list[str] | None:
    """Schedule the removal of blobs without a reference; return their names. None: no bucket."""
    if not runtime.settings.asset_bucket:
        return None
    stored = list(store_of(runtime, "s3").names())
    # Read names after the listing, so that a new blob does not count as unnamed.
    named, rows = _named_blobs(runtime), WASTE.of(runtime.database)
    unnamed = [blob for blob in stored if blob not in named]
    for blob in unnamed:
        row = {"store": "s3", "asset": "", "due": runtime.now() + LONGEST_RUN}
        rows.update_one({"_id": blob}, {"$setOnInsert": row}, upsert=True)
    # A worker that moves a library may have named one in between. A later one removes the row.
    named = _named_blobs(runtime)
    rows.delete_many({"_id": {"$in": [blob for blob in unnamed if blob in named]}, "asset": ""})
    return [blob for blob in unnamed if blob not in named]


def _named_blobs(runtime: Runtime) -> set[str]:
    database = runtime.database
    named = {blob for asset in ASSETS.of(database).find() for blob in _blobs_of(asset)}
    for upload in UPLOADS.of(database).find():
        named |= {upload["_id"], upload["clean"] or upload["_id"]}
    for transfer in TRANSFERS.of(database).find({}, {"files": 1}):
        named |= {file["blob"] for file in transfer["files"]}
    return named


def _blobs_of(asset: Asset) -> Iterator[str]:
    return (version["blob"] for version in asset["versions"])


def payments_without_order(runtime: Runtime, since: datetime) -> list[TakenPayment] | None:
    """Return the provider's payments since a time that have no order. None: no provider.

    The shop's schedule finds the payments of the other orders by itself.
    """
    name = runtime.settings.payments
    if name is None:
        return None
    provider, after, found = providers.provider_of(runtime, name), None, list[TakenPayment]()
    while True:
        page = provider.list_payments(since - _OVERLAP, after)
        known = {"_id": {"$in": [each.order for each in page.found]}}
        orders = {row["_id"] for row in ORDERS.of(runtime.database).find(known, {"_id": 1})}
        found += (each for each in page.found if each.order not in orders)
        after = page.after
        if after is None:
            return found


def _refund_all(runtime: Runtime, payments: Sequence[TakenPayment]) -> Iterator[Refusal]:
    """Refund payments; yield a Refusal for each failed refund, and go on with the others."""
    for payment in payments:
        try:
            _refund(runtime, payment)
        except PaymentRefused as refused:
            yield Refusal(payment.intent, refused.reason)
        except Unavailable as failure:
            yield Refusal(payment.intent, failure.code)


def _refund(runtime: Runtime, payment: TakenPayment) -> None:
    """Refund the rest of a payment, once; raises PaymentRefused and Unavailable."""
    provider = providers.provider_of(runtime, runtime.settings.payments or "fake")
    charge = Charge(payment.order, payment.amount_micros, payment.currency, email="")
    refunds = provider.statement(charge, payment.intent).refunds
    given = sum(each.amount_micros for each in refunds if not each.is_failed)
    left = payment.amount_micros - given
    if left > 0:
        provider.refund(charge, payment.intent, left, _REFUND_KEY)


def report(done: Done, *, refunds: bool) -> Iterator[str]:
    """Yield the lines that the operator reads."""
    yield f"{done.calls} calls of the audit log after the point were read"
    always: list[tuple[str, Sequence[object]]] = [
        ("people are erased again by the worker", done.erased),
        ("orders have no buyer any more", done.orders.erased),
        ("assets are deleted again", done.assets.deleted),
        ("versions of assets were removed and are shown no more", done.removed),
        ("versions of assets have no bytes and are shown no more", done.missing),
    ]
    problems: list[tuple[str, Sequence[object]]] = [
        ("lines of the log are unreadable, mend them and run again", done.unread),
        ("orders are not over, run again when they are", done.orders.unfinished),
        ("assets were deleted, but something shows them here, so they stay", done.assets.in_use),
        (
            "people of imports had an account that is erased: take their comments down",
            done.imported,
        ),
        ("people had stopped their letters, which go to them no more", done.stopped),
    ]
    for title, found in [*always, *((title, found) for title, found in problems if found)]:
        yield f"{len(found)} {title}: {', '.join(map(str, found)) or '-'}"
    if done.unnamed is None:
        yield "no bucket was compared: PLAZA_ASSET_BUCKET is not set"
    else:
        yield f"{len(done.unnamed)} files of the bucket belong to nothing and go after 15 minutes"
    yield f"{len(done.people)} people have another status than after the point, decide again"
    for person in done.people:
        site, user, status = person.decided
        yield f"  {site}: {person.name} ({user}) was {status}, is {person.status}"
    yield from _report_payments(done, refunds=refunds)


def _report_payments(done: Done, *, refunds: bool) -> Iterator[str]:
    if done.payments is None:
        yield "no payments were compared: PLAZA_PAYMENTS is not set"
        return
    told = "given back" if refunds else "not given back: run again with --refund"
    yield f"{len(done.payments)} payments have no order{f', {told}' if done.payments else ''}"
    for each in done.payments:
        yield f"  {each.intent}: {each.amount_micros / 1_000_000:.2f} {each.currency}, {each.order}"
    if done.refused:
        yield f"{len(done.refused)} of them are refused: {', '.join(map(str, done.refused))}"


def _point_of(text: str) -> datetime:
    """Return the restore point of an argument; raises ArgumentTypeError."""
    try:
        point = datetime.fromisoformat(text)
    except ValueError as failure:
        raise argparse.ArgumentTypeError(str(failure)) from failure
    if point.tzinfo is None:
        raise argparse.ArgumentTypeError("it needs a time zone, such as Z")
    return point


class AuditFile(NamedTuple):
    """A file with lines of the log."""

    name: str
    lines: list[str]


def _file_of(path: str) -> AuditFile:
    """Return a file with its lines; raises ArgumentTypeError.

    Only a line feed ends a line: an id in a line may contain other line separators.
    """
    try:
        file = Path(os.environ.get("PLAZA_CALLED_FROM", "")) / path
        return AuditFile(path, file.read_text(encoding="utf-8").split("\n"))
    except (OSError, UnicodeDecodeError) as failure:
        raise argparse.ArgumentTypeError(str(failure)) from failure


def main() -> None:
    """Run by the settings of the environment, and print what was done."""
    parser = argparse.ArgumentParser(prog="script/restored", description=__doc__)
    since = "the restore point, as 2026-11-25T14:00:00Z"
    parser.add_argument("--since", required=True, type=_point_of, help=since)
    audit = "files with the log's lines after the point, whose lines are numbered together"
    parser.add_argument("--audit", type=_file_of, nargs="+", default=[], metavar="FILE", help=audit)
    parser.add_argument("--refund", action="store_true", help="give payments without order back")
    given = parser.parse_args()
    files: list[AuditFile] = given.audit
    replay = read_audit((line for file in files for line in file.lines), given.since)
    try:
        runtime = Runtime.from_environment(os.environ)
        done = restore(runtime, given.since, replay, refunds=given.refund)
    except InvalidSettings as failure:
        sys.exit(f"script/restored: {failure}")
    except StoreUnavailable:
        sys.exit("script/restored: assets are in a bucket, and PLAZA_ASSET_BUCKET is not set")
    except Unavailable as failure:
        sys.exit(f"script/restored: not at its end, run it again: {failure}")
    print(*report(done, refunds=given.refund), sep="\n")
    cut = [file.name for file in files if may_be_cut(file.lines)]
    for name in cut:
        print(f"{name} may be cut: split the export by time, and give all files to one run")
    if done.unread or cut or done.refused:
        sys.exit(1)


if __name__ == "__main__":
    main()
