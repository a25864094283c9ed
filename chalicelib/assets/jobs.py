"""The worker and the schedule of assets: unfinished uploads, waste, and moves."""

from datetime import timedelta
from typing import Any

from chalice.app import Chalice, SQSEvent
from pydantic import TypeAdapter

from chalicelib.assets import promotion, upkeep
from chalicelib.assets.promotion import MoveAssets
from chalicelib.jobs.schedules import ScheduledJob
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime


def run_due(runtime: Runtime) -> dict[str, int]:
    """Resend moves, and remove uploads and blobs; return the numbers of removals."""
    promotion.resend_pending(runtime)
    return {
        "uploads_removed": upkeep.sweep_uploads(runtime),
        "blobs_removed": upkeep.sweep_waste(runtime),
    }


SCHEDULES = (ScheduledJob("tend_assets", timedelta(minutes=5), run_due),)


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the worker that moves assets to another store."""

    @app.on_sqs_message(queue=runtime.queues.name_of(MoveAssets.queue), batch_size=1)
    def move_assets(event: SQSEvent) -> dict[str, Any]:
        def handle(message: MoveAssets) -> None:
            promotion.move_pending(runtime, message.owner)

        return consume(event.to_dict(), TypeAdapter(MoveAssets), handle)
