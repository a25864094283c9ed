"""The worker of assets."""

from typing import Any

from chalice.app import Chalice, SQSEvent
from pydantic import TypeAdapter

from chalicelib.assets import promotion
from chalicelib.assets.promotion import MoveAssets
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the worker that moves assets to another store."""

    @app.on_sqs_message(queue=runtime.queues.name_of(MoveAssets.queue), batch_size=1)
    def move_assets(event: SQSEvent) -> dict[str, Any]:
        def handle(message: MoveAssets) -> None:
            promotion.move_wanted(runtime, message.owner)

        return consume(event.to_dict(), TypeAdapter(MoveAssets), handle)
