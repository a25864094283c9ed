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
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from chalicelib.assets.errors import StoreUnavailable
from chalicelib.comments.people import changing
from chalicelib.comments.people.rows import Status, status_of
from chalicelib.errors import Unavailable
from chalicelib.notifications import mailing
from chalicelib.people import jobs
from chalicelib.runtime import Runtime
from chalicelib.settings import InvalidSettings
from chalicelib.shop.errors import OrderUnfinished
from chalicelib.shop.orders import personal_data
from chalicelib.shop.orders.shapes import find
from chalicelib.shop.payments.port import ListedPayment
from chalicelib.webhooks.rows import HOOKS
from chalicelib.wiring.people import PEOPLE
from deploy import restored_assets, restored_money
from deploy.replay import CreditSet, MoneyMoved, Removal, Replay, Standing, may_be_cut, read_audit
from deploy.restored_assets import BucketLacksMost, Deleted, missing_versions, take_down
from deploy.restored_money import Refusal


class Orders(NamedTuple):
    """The orders whose buyer is erased again, and the orders that are not over yet."""

    erased: list[str]
    unfinished: list[str]


class Undecided(NamedTuple):
    """A decision on a person that the database lacks, and the person's name and status there."""

    decided: Standing
    name: str
    status: Status


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
    payments: list[ListedPayment] | None
    imported: list[str]
    stopped: list[str]
    refused: list[Refusal]
    transfers: list[MoneyMoved]
    credit_lines: list[CreditSet]
    skipped: int
    earlier: list[str]


def restore(
    runtime: Runtime,
    since: datetime,
    replay: Replay,
    *,
    refunds: bool,
    accepts_losses: bool = False,
) -> Done:
    """Repeat everything that the restored database lacks; return the results for the operator.

    With `refunds`, refund or cancel payments without an order. Raises, before any change,
    StoreUnavailable if the settings lack a store that has assets, and BucketLacksMost, but not if
    the operator `accepts_losses`.
    """
    restored_assets.check_stores(runtime, replay, accepts_losses=accepts_losses)
    erased = sorted(replay.erasures)
    for user in erased:
        jobs.begin_erasure(runtime, PEOPLE, user)
    for person in sorted(replay.stopped):
        mailing.stop(runtime, person)
    _renew_event_ids(runtime, since)
    skipped = _skip_letters(runtime, since)
    restored_money.read_refunds_again(runtime, since)
    payments = restored_money.payments_without_order(runtime, since)
    return Done(
        calls=replay.calls,
        unread=replay.unread,
        erased=erased,
        orders=_erase_buyers(runtime, replay),
        assets=restored_assets.delete_again(runtime, replay),
        removed=[each for each in sorted(replay.removals) if take_down(runtime, each)],
        missing=[each for each in missing_versions(runtime) if take_down(runtime, each)],
        unnamed=restored_assets.waste_unnamed_blobs(runtime),
        people=list(_undecided(runtime, replay)),
        payments=payments,
        imported=sorted(replay.imported),
        stopped=sorted(replay.stopped),
        refused=list(restored_money.give_back(runtime, payments or [])) if refunds else [],
        transfers=restored_money.missing_transfers(runtime, replay),
        credit_lines=restored_money.other_credit_lines(runtime, replay),
        skipped=skipped,
        earlier=[
            user
            for user in sorted(replay.earlier - replay.erasures)
            if jobs.count_remaining(runtime.database, PEOPLE, user)
        ],
    )


def _renew_event_ids(runtime: Runtime, since: datetime) -> None:
    """Give the events of all webhooks other ids from now on.

    Versions count anew after the point, so that receivers would take new events for repeats. A
    second restore to the same point begins a further epoch, a repeat of this command does not.
    """
    point = f"-{int(since.timestamp()):x}"
    here = {"epoch": {"$not": {"$regex": f"^{point}-"}}}
    epoch = f"{point}-{int(runtime.now().timestamp()):x}"
    HOOKS.of(runtime.database).update_many(here, {"$set": {"epoch": epoch}})


def _skip_letters(runtime: Runtime, since: datetime) -> int:
    """Skip the due letters of notifications of before the point; return their number.

    They were probably sent after the point, under an id that the database lacks.
    """
    due = {
        "since": {"$lt": since},
        "$or": [{"next_due": {"$lte": runtime.now()}}, {"lease": {"$gt": since}}],
    }
    update = {"$set": {"since": since}, "$unset": dict.fromkeys(mailing.UNDER_WAY, "")}
    return mailing.MAILINGS.of(runtime.database).update_many(due, update).modified_count


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


def _undecided(runtime: Runtime, replay: Replay) -> Iterator[Undecided]:
    """Yield the decisions on people that a moderator has to make again.

    The log lacks the end of a suspension, so this yields every suspension.
    """
    for _, decided in sorted(replay.standings.items()):
        person = changing.find(runtime.database, decided.site, decided.user)
        status = status_of(person, runtime.now())
        if status != decided.status or status == "suspended":
            yield Undecided(decided, person["name"], status)


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
        (
            "people were erased shortly before the point, and have come again or have to be erased",
            done.earlier,
        ),
    ]
    for title, found in [*always, *((title, found) for title, found in problems if found)]:
        yield f"{len(found)} {title}: {', '.join(map(str, found)) or '-'}"
    if done.skipped:
        yield f"{done.skipped} people get no letter of what they were probably told after the point"
    if done.unnamed is None:
        yield "no bucket was compared: PLAZA_ASSET_BUCKET is not set"
    else:
        yield f"{len(done.unnamed)} files of the bucket belong to nothing and go after 15 minutes"
    yield f"{len(done.people)} people have another status than after the point, decide again"
    for person in done.people:
        site, user, status = person.decided
        yield f"  {site}: {person.name} ({user}) was {status}, is {person.status}"
    if done.transfers:
        yield f"{len(done.transfers)} transfers of money are missing, make them again by their keys"
        yield from (f"  {each}" for each in done.transfers)
    if done.credit_lines:
        yield f"{len(done.credit_lines)} credit lines were set after the point, set them again"
        yield from (f"  {each}" for each in done.credit_lines)
    yield from _report_payments(done, refunds=refunds)


def _report_payments(done: Done, *, refunds: bool) -> Iterator[str]:
    if done.payments is None:
        yield "no payments were compared: PLAZA_PAYMENTS is not set"
        return
    told = "given back" if refunds else "not given back: run again with --refund"
    yield f"{len(done.payments)} payments have no order{f', {told}' if done.payments else ''}"
    for each in done.payments:
        money = f"{each.amount_micros / 1_000_000:.2f} {each.currency}"
        yield f"  {each.intent}: {money}, {each.order}{', not paid yet' if each.is_open else ''}"
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
    losses = "go on if the bucket lacks most files of assets: it is the right bucket"
    parser.add_argument("--accept-losses", action="store_true", help=losses)
    given = parser.parse_args()
    files: list[AuditFile] = given.audit
    replay = read_audit((line for file in files for line in file.lines), given.since)
    try:
        runtime = Runtime.from_environment(os.environ)
        done = restore(
            runtime,
            given.since,
            replay,
            refunds=given.refund,
            accepts_losses=given.accept_losses,
        )
    except InvalidSettings as failure:
        sys.exit(f"script/restored: {failure}")
    except StoreUnavailable:
        sys.exit("script/restored: assets are in a bucket, and PLAZA_ASSET_BUCKET is not set")
    except BucketLacksMost as failure:
        told = "nothing was changed; is PLAZA_ASSET_BUCKET that of this deployment?"
        sys.exit(f"script/restored: {failure}: {told} If so, add --accept-losses")
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
