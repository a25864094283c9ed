"""The workers of the social feed's queues: what each message has done."""

from typing import Any

from chalice.app import Chalice, SQSEvent

from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.social import messages, outbox
from chalicelib.social.activity import renaming as activity_renaming
from chalicelib.social.activity.feed import cascade, refill, reranking
from chalicelib.social.activity.feed.action_fan_out import OF_ACTIONS
from chalicelib.social.delivery import engine
from chalicelib.social.messages import (
    ActivityMessage,
    BackFill,
    Cascade,
    DeliverAction,
    DeliverActionChunk,
    Erase,
    EraseLate,
    Job,
    Rebuild,
    Refill,
    Rename,
    RenameRef,
    Rerank,
    Trim,
)
from chalicelib.social.personal_data import erasure, renaming
from chalicelib.social.timelines import post_fan_out, propagation, repair


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare the workers of fan-outs, of changes on posts, of the activity feed, and of jobs."""
    queue = runtime.queues.name_of

    @app.on_sqs_message(queue=queue(messages.Deliver.queue), batch_size=10)
    def fan_out(event: SQSEvent) -> dict[str, Any]:
        def handle(message: messages.Deliver | messages.DeliverChunk) -> None:
            post_fan_out.handle(runtime, message)

        return consume(event.to_dict(), messages.FAN_OUT, handle)

    @app.on_sqs_message(queue=queue(messages.Propagate.queue), batch_size=10)
    def comment_spread(event: SQSEvent) -> dict[str, Any]:
        def handle(message: messages.Propagate) -> None:
            propagation.propagate(runtime, message.post_id)

        return consume(event.to_dict(), messages.PROPAGATE, handle)

    @app.on_sqs_message(queue=queue(messages.Rerank.queue), batch_size=10)
    def activity_feed(event: SQSEvent) -> dict[str, Any]:
        def handle(message: messages.ActivityMessage) -> None:
            handle_activity(runtime, message)

        return consume(event.to_dict(), messages.ACTIVITY, handle)

    @app.on_sqs_message(queue=queue(messages.BackFill.queue), batch_size=1)
    def social_errands(event: SQSEvent) -> dict[str, Any]:
        def handle(message: messages.Job) -> None:
            handle_job(runtime, message)

        return consume(event.to_dict(), messages.JOB, handle)


def handle_activity(runtime: Runtime, message: ActivityMessage) -> None:
    """Do what a message asks; a failure leaves it for the sweep."""
    match message:
        case DeliverAction():
            engine.deliver(runtime, OF_ACTIONS, message.action_id)
        case DeliverActionChunk():
            engine.deliver_chunk(runtime, OF_ACTIONS, message.action_id, message.number)
        case Rerank():
            handle_job(runtime, message)


def handle_job(runtime: Runtime, job: Job) -> None:
    """Do a job if it is still in the outbox; a failure leaves it for the sweep."""
    outbox.run(runtime, job, _do)


def _do(runtime: Runtime, job: Job) -> None:
    match job:
        case BackFill():
            repair.back_fill(runtime, job.reader_id, job.author_id)
        case Rename():
            renaming.rename(runtime, job.user_id)
        case Rebuild():
            repair.rebuild(runtime, job.user_id)
        case Trim():
            repair.trim(runtime, job.user_id)
        case Erase() | EraseLate():
            _erase(runtime, job)
        case Refill():
            refill.refill(runtime, job.user_id)
        case RenameRef():
            activity_renaming.rename_ref(runtime, job.ref_id)
        case Rerank():
            reranking.rank(runtime, job.action_id, job.event_id, job.after)
        case Cascade():
            cascade.cascade(runtime, job.action_id)


def _erase(runtime: Runtime, job: Erase | EraseLate) -> None:
    if isinstance(job, EraseLate):
        erasure.erase_late(runtime, job.user_id, job.until)
    else:
        erasure.erase(runtime, job.user_id)
