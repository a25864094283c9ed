"""Workers, schedules and commands of the social feed."""

from functools import partial
from typing import Any

from chalicelib.jobs import outbox
from chalicelib.jobs.schedules import Step, run_steps
from chalicelib.messaging import consume
from chalicelib.runtime import Runtime
from chalicelib.social import messages, notifications, watched_posts
from chalicelib.social.activity import renaming as activity_renaming
from chalicelib.social.activity.feed import cascade, refill, reranking
from chalicelib.social.activity.feed.action_fan_out import OF_ACTIONS
from chalicelib.social.delivery import engine
from chalicelib.social.graph import memberships
from chalicelib.social.messages import (
    JOB,
    BackFill,
    Cascade,
    Deliver,
    DeliverAction,
    DeliverActionChunk,
    DeliverChunk,
    NotifyFeed,
    NotifyWatchers,
    Propagate,
    Rebuild,
    Refill,
    RenameRef,
    Rerank,
    SocialJob,
    Trim,
)
from chalicelib.social.timelines import news, propagation, repair, walls
from chalicelib.social.timelines.copies import MonthCopies
from chalicelib.social.timelines.post_fan_out import OF_POSTS


def resend_overdue(runtime: Runtime) -> None:
    """Send messages again for all overdue work."""
    steps: dict[str, Step] = {
        "posts": lambda _: engine.sweep(runtime, OF_POSTS),
        "actions": lambda _: engine.sweep(runtime, OF_ACTIONS),
        "propagations": propagation.sweep,
        "jobs": lambda _: outbox.sweep(runtime, JOB),
    }
    run_steps(runtime, steps)


def tend(runtime: Runtime) -> dict[str, int]:
    """Truncate copies with too many comments, repair counts, and mark absent users.

    Returns numbers: `cut`, the truncated documents; `recounted`, the counts that were wrong after
    crashes; `away`, the users marked now.
    """
    database = runtime.database
    copies = (MonthCopies(database, walls.WALLS), MonthCopies(database, news.NEWS))
    steps: dict[str, Step] = {
        "cut": lambda _: sum(each.truncate_comments() for each in copies),
        "away": lambda _: news.mark_away(database, runtime.now()),
        "recounted": memberships.recount,
    }
    return run_steps(runtime, steps)


def verify_news(runtime: Runtime, user_id: str) -> dict[str, list[str]]:
    """Compare a reader's stored news with their definition, and repair them.

    Returns `{missing, surplus}`, the ids of posts.
    """
    return repair.verify(runtime, user_id)


SocialMessage = Deliver | DeliverChunk | Propagate | DeliverAction | DeliverActionChunk | SocialJob


def fan_out(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Handle messages of the queue `fan-out`: deliver posts to the news of their readers."""
    return consume(event, messages.FAN_OUT, partial(handle, runtime))


def comment_spread(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Handle messages of the queue `comment-spread`: propagate changes of posts to their copies."""
    return consume(event, messages.PROPAGATE, partial(handle, runtime))


def activity_feed(runtime: Runtime, event: dict[str, Any]) -> dict[str, Any]:
    """Handle messages of the queue `activity`: deliver actions, and rank them again."""
    return consume(event, messages.ACTIVITY, partial(handle, runtime))


def handle(runtime: Runtime, message: SocialMessage) -> None:
    """Do the work of a message. If it fails, the sweep sends the message again.

    A job runs only while it is in the outbox.
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


def _back_fill(runtime: Runtime, job: BackFill) -> None:
    # The job stays in the outbox until both steps end, so neither gets lost.
    if job.tells:
        notifications.agree_follow(runtime, job.reader_id, job.author_id)
    repair.back_fill(runtime, job.reader_id, job.author_id)


def _run(runtime: Runtime, job: SocialJob) -> None:
    match job:
        case BackFill():
            _back_fill(runtime, job)
        case Rebuild():
            repair.rebuild(runtime, job.user_id)
        case Trim():
            repair.trim(runtime, job.user_id)
        case Refill():
            refill.refill(runtime, job.user_id, job.after)
        case RenameRef():
            activity_renaming.rename_ref(runtime, job.ref_id)
        case Rerank():
            reranking.rank(runtime, job.action_id, job.event_id, job.after)
        case Cascade():
            cascade.cascade(runtime, job.action_id)
        case NotifyFeed():
            notifications.agree(runtime, job)
        case NotifyWatchers():
            watched_posts.notify(runtime, job)
