"""What the worker of the activity feed's queue does with each message."""

from chalicelib.runtime import Runtime
from chalicelib.social import background, delivery
from chalicelib.social.activity.fan_out import OF_ACTIONS
from chalicelib.social.messages import ActivityMessage, DeliverAction, DeliverActionChunk, Rank


def handle(runtime: Runtime, message: ActivityMessage) -> None:
    """Do what a message asks; a failure leaves it for the sweep."""
    match message:
        case DeliverAction():
            delivery.deliver(runtime, OF_ACTIONS, message.action_id)
        case DeliverActionChunk():
            delivery.deliver_chunk(runtime, OF_ACTIONS, message.action_id, message.number)
        case Rank():
            background.handle(runtime, message)
