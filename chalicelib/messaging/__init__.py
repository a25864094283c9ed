"""Typed messages to SQS, and the handling of batches from SQS with partial failure."""

from chalicelib.messaging.consuming import Poisoned, consume, consume_together
from chalicelib.messaging.queues import (
    DEAD_LETTER_SUFFIX,
    MAX_RECEIVES,
    Message,
    Queues,
)

__all__ = [
    "DEAD_LETTER_SUFFIX",
    "MAX_RECEIVES",
    "Message",
    "Poisoned",
    "Queues",
    "consume",
    "consume_together",
]
