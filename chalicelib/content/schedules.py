"""The schedule of content."""

from chalice.app import Chalice, CloudWatchEvent, Rate

from chalicelib.content.publishing import telling, tending
from chalicelib.runtime import Runtime


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the schedule."""

    @app.schedule(Rate(1, Rate.MINUTES))
    def tend_content(_event: CloudWatchEvent) -> dict[str, int]:
        return run_due(runtime)


def run_due(runtime: Runtime) -> dict[str, int]:
    """Tidy up what readers see already, and send messages again; return how many pages."""
    done = {"made_live": tending.make_live(runtime), "ended": tending.end(runtime)}
    telling.sweep(runtime)
    return done
