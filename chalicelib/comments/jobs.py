"""Workers and schedules of comments, which finish and repair the work of calls."""

from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from chalicelib.comments import notifications, webhooks
from chalicelib.comments.acts import upkeep as acts
from chalicelib.comments.batches import running
from chalicelib.comments.batches.running import RunBatch
from chalicelib.comments.discussion import by_page
from chalicelib.comments.entries import upkeep
from chalicelib.comments.latest import discussed
from chalicelib.comments.lifecycle import relocation, vacancies
from chalicelib.comments.marking import flags
from chalicelib.comments.moderation import queue
from chalicelib.comments.people import counting, guests
from chalicelib.comments.repair import repair_counts
from chalicelib.comments.shapes import Comment, Node
from chalicelib.comments.sign_in import confirming
from chalicelib.comments.spam import checking
from chalicelib.comments.spam_check import origins
from chalicelib.comments.spam_check.origins import CheckSpam
from chalicelib.comments.stores import promotion
from chalicelib.comments.stores.promotion import MoveNode
from chalicelib.comments.terms import upkeep as terms
from chalicelib.comments.transfers import runs as transfer_runs
from chalicelib.comments.transfers import upkeep as transfers
from chalicelib.comments.transfers.messages import RunTransfer
from chalicelib.jobs.schedules import Step, run_steps
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime


def _tell(runtime: Runtime, node: Node, comment: Comment, read_at: datetime) -> None:
    """Notify people and webhooks of a comment again: the first message may be lost."""
    notifications.agree(runtime, node, comment, read_at)
    webhooks.agree(runtime, node, comment["id"])


_STEPS: Mapping[str, Step] = {
    "batches": running.WORK.sweep,
    "spam_checks": origins.WORK.sweep,
    "moves_sent": promotion.resend_moves,
    "generations_removed": promotion.sweep,
    "vacancies_removed": vacancies.sweep,
    "entries_removed": lambda runtime: upkeep.sweep(runtime, _tell),
    "flagged_held": flags.sweep,
    "comments_indexed": terms.index_due,
    "people_recounted": counting.sweep,
    "names_keyed": guests.add_missing_keys,
    "confirmed_released": confirming.sweep,
    "addresses_keyed": by_page.add_missing_keys,
    "spam_wiped": checking.wipe_overdue,
    "acts_cleared": acts.sweep,
    "sites_counted": discussed.count_due,
    "files_removed": transfers.sweep,
    "comments_waiting": queue.measure,
    # Last, since the comparison of a large node takes long.
    "counts_repaired": repair_counts,
}


def run_due(runtime: Runtime) -> dict[str, int]:
    """Run the steps of the schedule; return the number of items that each step handled."""
    return run_steps(runtime, _STEPS)


# MoveNode messages have no `type`, so this union has no discriminator.
_MOVES: TypeAdapter[RunTransfer | MoveNode] = TypeAdapter(RunTransfer | MoveNode)
_MODERATION: TypeAdapter[RunBatch | CheckSpam] = TypeAdapter(
    Annotated[RunBatch | CheckSpam, Field(discriminator="type")]
)


def move_nodes(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Move nodes to other stores and ids, and run imports and exports."""
    return consume(event, _MOVES, partial(_move, runtime))


def _move(runtime: Runtime, message: MoveNode | RunTransfer) -> None:
    match message:
        case RunTransfer():
            transfer_runs.run(runtime, message)
        case MoveNode():
            promotion.move_wanted(runtime, message.node_id)
            relocation.relocate_wanted(runtime, message.node_id)


def run_batches(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Run moderators' batches, and check comments for spam."""
    return consume(event, _MODERATION, partial(_moderate, runtime))


def _moderate(runtime: Runtime, message: RunBatch | CheckSpam) -> None:
    match message:
        case RunBatch():
            running.run(runtime, message.batch)
        case CheckSpam():
            checking.run(runtime, message.comment)
