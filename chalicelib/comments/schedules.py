"""What schedules and commands do for comments: compare counters, render anew."""

from chalice.app import Chalice, CloudWatchEvent, Rate

from chalicelib.comments import nodes
from chalicelib.comments.lifecycle import vacancies
from chalicelib.comments.repair import repair_counts
from chalicelib.comments.stores import promotion
from chalicelib.runtime import Runtime


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare what runs by the clock."""

    @app.schedule(Rate(5, Rate.MINUTES))
    def tend_comments(_event: CloudWatchEvent) -> dict[str, int]:
        return tend(runtime)


def tend(runtime: Runtime) -> dict[str, int]:
    """Do what is due: send lost moves again, remove waste, compare counters; say how much."""
    return {
        "moves_sent": promotion.resend_wanted(runtime),
        "generations_removed": promotion.sweep(runtime),
        "vacancies_removed": vacancies.sweep(runtime),
        "counts_mended": repair_counts(runtime),
    }


def compare_old_counts(runtime: Runtime) -> int:
    """Have the nodes compared whose replies an earlier release counted; return how many.

    The comparing itself is the schedule's, in parts, as of nodes that were written to.
    """
    old = {"counts_version": None, "threaded": True, "written": None, **nodes.OCCUPIED}
    mark = {"$set": {"written": runtime.now()}}
    return nodes.collection(runtime.database).update_many(old, mark).modified_count
