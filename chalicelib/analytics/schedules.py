"""What analytics' schedules do; every part may run twice at once, or miss a run."""

from chalice.app import Chalice, CloudWatchEvent, Rate

from chalicelib.analytics.moving import layouts, moves
from chalicelib.analytics.reports import late
from chalicelib.analytics.sessions import due
from chalicelib.analytics.upkeep import sizes, trimming
from chalicelib.runtime import Runtime


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare what runs by the clock."""

    @app.schedule(Rate(5, Rate.MINUTES))
    def roll_hits_up(_event: CloudWatchEvent) -> dict[str, int]:
        return roll_up(runtime)

    @app.schedule(Rate(1, Rate.HOURS))
    def tend_hits(_event: CloudWatchEvent) -> dict[str, int]:
        return tend(runtime)


def roll_up(runtime: Runtime) -> dict[str, int]:
    """Make sessions and roll them up, take moves a step on; return how much was done."""
    rewritten, followed = layouts.rewrite(runtime), late.follow(runtime)
    done = {**moves.sweep(runtime), "days_rewritten": rewritten, "names_followed": followed}
    return {**done, **due.make_due(runtime)}


def tend(runtime: Runtime) -> dict[str, int]:
    """Make and drop the parts of logs, and measure collections; return how many of each."""
    return {"parts_dropped": trimming.trim(runtime), "collections_measured": sizes.measure(runtime)}
