"""The workers of the social feed's queues, and the one dispatcher of their messages."""

from functools import partial
from typing import Any

from chalice.app import Chalice, SQSEvent

from chalicelib.jobs import outbox
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.social import messages
from chalicelib.social.activity import renaming as activity_renaming
from chalicelib.social.activity.feed import cascade, refill, reranking
from chalicelib.social.activity.feed.action_fan_out import OF_ACTIONS
from chalicelib.social.delivery import engine
from chalicelib.social.messages import (
    BackFill,
    Cascade,
    Deliver,
    DeliverAction,
    DeliverActionChunk,
    DeliverChunk,
    Propagate,
    Rebuild,
    Refill,
    RenameRef,
    Rerank,
    SocialJob,
    Trim,
)
from chalicelib.social.timelines import propagation, repair
from chalicelib.social.timelines.post_fan_out import OF_POSTS

SocialMessage = Deliver | DeliverChunk | Propagate | DeliverAction | DeliverActionChunk | SocialJob


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the workers of fan-outs, of changes on posts, and of the activity feed."""
    queue, do = runtime.queues.name_of, partial(handle, runtime)

    @app.on_sqs_message(queue=queue(Deliver.queue), batch_size=10)
    def fan_out(event: SQSEvent) -> dict[str, Any]:
        return consume(event.to_dict(), messages.FAN_OUT, do)

    @app.on_sqs_message(queue=queue(Propagate.queue), batch_size=10)
    def comment_spread(event: SQSEvent) -> dict[str, Any]:
        return consume(event.to_dict(), messages.PROPAGATE, do)

    @app.on_sqs_message(queue=queue(Rerank.queue), batch_size=10)
    def activity_feed(event: SQSEvent) -> dict[str, Any]:
        return consume(event.to_dict(), messages.ACTIVITY, do)


def handle(runtime: Runtime, message: SocialMessage) -> None:
    """Do what a message asks; a failure leaves it for the sweep.

    A job is run only if it is still in the outbox.
    """
    match message:
        case Deliver():
            engine.deliver(runtime, OF_POSTS, message.post_id)
        case DeliverChunk():
            engine.deliver_chunk(runtime, OF_POSTS, message.post_id, message.number)
        case DeliverAction():
            engine.deliver(runtime, OF_ACTIONS, message.action_id)
        case DeliverActionChunk():
            engine.deliver_chunk(runtime, OF_ACTIONS, message.action_id, message.number)
        case Propagate():
            propagation.propagate(runtime, message.post_id)
        case _:
            outbox.run(runtime, message, _run)


def _run(runtime: Runtime, job: SocialJob) -> None:
    match job:
        case BackFill():
            repair.back_fill(runtime, job.reader_id, job.author_id)
        case Rebuild():
            repair.rebuild(runtime, job.user_id)
        case Trim():
            repair.trim(runtime, job.user_id)
        case Refill():
            refill.refill(runtime, job.user_id)
        case RenameRef():
            activity_renaming.rename_ref(runtime, job.ref_id)
        case Rerank():
            reranking.rank(runtime, job.action_id, job.event_id, job.after)
        case Cascade():
            cascade.cascade(runtime, job.action_id)
