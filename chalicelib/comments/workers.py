"""The workers of the comments' queues."""

from typing import Annotated, Any

from chalice.app import Chalice, SQSEvent
from pydantic import Field, TypeAdapter

from chalicelib.comments.batches import running
from chalicelib.comments.batches.messages import RunBatch
from chalicelib.comments.lifecycle import relocation
from chalicelib.comments.spam import checking
from chalicelib.comments.spam_check.messages import CheckSpam
from chalicelib.comments.stores import promotion
from chalicelib.comments.stores.promotion import MoveNode
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime

_MODERATION: TypeAdapter[RunBatch | CheckSpam] = TypeAdapter(
    Annotated[RunBatch | CheckSpam, Field(discriminator="type")]
)


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the workers."""
    queue = runtime.queues.name_of

    @app.on_sqs_message(queue=queue(MoveNode.queue), batch_size=1)
    def move_nodes(event: SQSEvent) -> dict[str, Any]:
        def handle(message: MoveNode) -> None:
            promotion.move_wanted(runtime, message.node_id)
            relocation.relocate_wanted(runtime, message.node_id)

        return consume(event.to_dict(), TypeAdapter(MoveNode), handle)

    @app.on_sqs_message(queue=queue(RunBatch.queue), batch_size=1)
    def run_batches(event: SQSEvent) -> dict[str, Any]:
        def handle(message: RunBatch | CheckSpam) -> None:
            match message:
                case RunBatch():
                    running.run(runtime, message.batch)
                case CheckSpam():
                    checking.run(runtime, message.comment)

        return consume(event.to_dict(), _MODERATION, handle)
