"""The worker and the schedule of assets: unfinished uploads, waste, and moves."""

from typing import Any

from pydantic import TypeAdapter

from chalicelib.assets import promotion, upkeep
from chalicelib.assets.promotion import MoveAssets
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime


def run_due(runtime: Runtime) -> dict[str, int]:
    """Resend moves, and remove uploads and blobs; return the numbers of removals."""
    promotion.resend_pending(runtime)
    return {
        "uploads_removed": upkeep.sweep_uploads(runtime),
        "blobs_removed": upkeep.sweep_waste(runtime),
    }


def move_assets(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Move assets to another store."""

    def handle(message: MoveAssets) -> None:
        promotion.move_pending(runtime, message.owner)

    return consume(event, TypeAdapter(MoveAssets), handle)
