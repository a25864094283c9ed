"""What the schedules and commands of the social feed do."""

from datetime import datetime

from chalice.app import Chalice, CloudWatchEvent, Rate
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.jobs import outbox
from chalicelib.runtime import Runtime
from chalicelib.social.activity.feed.action_fan_out import OF_ACTIONS
from chalicelib.social.delivery import engine
from chalicelib.social.graph import memberships
from chalicelib.social.messages import JOB
from chalicelib.social.timelines import news, propagation, repair, walls
from chalicelib.social.timelines.copies import MonthCopies
from chalicelib.social.timelines.post_fan_out import OF_POSTS


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare what runs by the clock."""

    @app.schedule(Rate(1, Rate.MINUTES))
    def sweep(_event: CloudWatchEvent) -> None:
        resend_overdue(runtime)

    @app.schedule(Rate(1, Rate.HOURS))
    def tend_social(_event: CloudWatchEvent) -> dict[str, int]:
        return maintain(runtime.database, runtime.now())


def resend_overdue(runtime: Runtime) -> None:
    """Send messages again for all unfinished work that is overdue."""
    engine.sweep(runtime, OF_POSTS)
    engine.sweep(runtime, OF_ACTIONS)
    propagation.sweep(runtime)
    outbox.sweep(runtime, JOB)


def maintain(database: Database[Document], now: datetime) -> dict[str, int]:
    """Truncate copies with too many comments, repair counts, and mark users who are away.

    Returns how many documents were `cut`, how many wrong counts, left by crashes, were
    `recounted`, and how many more users are `away`.
    """
    copies = (MonthCopies(database, walls.WALLS), MonthCopies(database, news.NEWS))
    cut = sum(each.truncate_comments() for each in copies)
    away = news.mark_away(database, now)
    return {"cut": cut, "recounted": memberships.recount(database), "away": away}


def verify_news(runtime: Runtime, user_id: str) -> dict[str, list[str]]:
    """Compare a reader's stored news with their definition, and repair them.

    Returns `{missing, surplus}`, the ids of posts.
    """
    return repair.verify(runtime, user_id)
