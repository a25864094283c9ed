"""The schedule of assets: remove what nobody can reach, and resend unfinished moves."""

from chalice.app import Chalice, CloudWatchEvent, Rate

from chalicelib.assets import promotion, upkeep
from chalicelib.runtime import Runtime


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the schedule."""

    @app.schedule(Rate(5, Rate.MINUTES))
    def tend_assets(_event: CloudWatchEvent) -> dict[str, int]:
        return run_due(runtime)


def run_due(runtime: Runtime) -> dict[str, int]:
    """Resend moves, and remove uploads and blobs; return how many of these were removed."""
    promotion.resend_wanted(runtime)
    return {
        "uploads_removed": upkeep.sweep_uploads(runtime),
        "blobs_removed": upkeep.sweep_waste(runtime),
    }
