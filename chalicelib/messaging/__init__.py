"""Typed messages out to SQS, and batches of them in, with partial failure."""

from chalicelib.messaging.queues import (
    DEAD_LETTER_SUFFIX,
    MAX_RECEIVES,
    Message,
    Poisoned,
    Queues,
    consume,
    consume_together,
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
