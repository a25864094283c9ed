"""The schedules and commands of comments: repair counters, remove waste, resend messages."""

from chalice.app import Chalice, CloudWatchEvent, Rate

from chalicelib.comments import nodes
from chalicelib.comments.acts import upkeep as acts
from chalicelib.comments.batches import running
from chalicelib.comments.entries import upkeep
from chalicelib.comments.flags import holding
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.moderation import measuring
from chalicelib.comments.people import counting
from chalicelib.comments.repair import repair_counts
from chalicelib.comments.spam import checking, wiping
from chalicelib.comments.stores import promotion
from chalicelib.runtime import Runtime


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the schedule."""

    @app.schedule(Rate(5, Rate.MINUTES))
    def tend_comments(_event: CloudWatchEvent) -> dict[str, int]:
        return run_due(runtime)


def run_due(runtime: Runtime) -> dict[str, int]:
    """Resend lost messages, remove waste, repair counters, measure; return each number."""
    running.sweep(runtime)
    checking.sweep(runtime)
    return {
        "moves_sent": promotion.resend_wanted(runtime),
        "generations_removed": promotion.sweep(runtime),
        "vacancies_removed": vacancies.sweep(runtime),
        "entries_removed": upkeep.sweep(runtime),
        "flagged_held": holding.sweep(runtime),
        "counts_repaired": repair_counts(runtime),
        "people_recounted": counting.sweep(runtime),
        "spam_wiped": wiping.sweep(runtime),
        "acts_cleared": acts.sweep(runtime),
        "comments_waiting": measuring.measure(runtime),
    }


def compare_old_counts(runtime: Runtime) -> int:
    """Mark nodes that an earlier release kept by other rules to be compared; return how many.

    It counted other replies, or its comments have no entries.

    The schedule compares them, a few at a time, like nodes that were written to.
    """
    rules = [{"counts_version": None, "threaded": True}, {"entries_version": None}]
    old = {"$or": rules, "written": None, **nodes.OCCUPIED}
    mark = {"$set": {"written": runtime.now()}}
    return nodes.NODES.of(runtime.database).update_many(old, mark).modified_count
