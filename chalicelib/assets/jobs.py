"""The worker and the schedule of assets: unfinished uploads, waste, and moves."""

from typing import Any

from pydantic import TypeAdapter

from chalicelib.assets import promotion, upkeep
from chalicelib.assets.promotion import MoveAssets
from chalicelib.jobs.schedules import Step, run_steps
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime


def run_due(runtime: Runtime) -> dict[str, int]:
    """Resend moves, and remove ended uploads and unused blobs; return the number of each."""
    steps: dict[str, Step] = {
        "moves": promotion.resend_pending,
        "uploads_removed": upkeep.sweep_uploads,
        "blobs_removed": upkeep.sweep_waste,
    }
    return run_steps(runtime, steps)


def move_assets(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Move assets to another store."""

    def handle(message: MoveAssets) -> None:
        promotion.move_pending(runtime, message.owner)

    return consume(event, TypeAdapter(MoveAssets), handle)
