"""What the schedules and commands of the social feed do."""

from datetime import datetime

from chalice.app import Chalice, CloudWatchEvent, Rate
from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social import outbox
from chalicelib.social.activity.feed import action_fan_out
from chalicelib.social.graph import following
from chalicelib.social.timelines import news, post_fan_out, propagation, repair, walls
from chalicelib.social.timelines.copies import MonthCopies


def declare(app: Chalice, runtime: Runtime) -> None:
    """Declare what runs by the clock."""

    @app.schedule(Rate(1, Rate.MINUTES))
    def sweep(_event: CloudWatchEvent) -> None:
        resend_overdue(runtime)

    @app.schedule(Rate(1, Rate.HOURS))
    def tend_social(_event: CloudWatchEvent) -> dict[str, int]:
        return tend(runtime.database, runtime.now())


def resend_overdue(runtime: Runtime) -> None:
    """Send again whatever is owed and overdue."""
    post_fan_out.sweep(runtime)
    action_fan_out.sweep(runtime)
    propagation.sweep(runtime)
    outbox.sweep(runtime)


def tend(database: Database[Document], now: datetime) -> dict[str, int]:
    """Cut copies that show too many comments, mend counts, and mark who has not been seen.

    Returns how many documents were `cut`, how many counts, which a crash left behind, were
    `recounted`, and how many users are `away` since the last time.
    """
    copies = (MonthCopies(database, walls.WALLS), MonthCopies(database, news.NEWS))
    cut = sum(each.truncate_comments() for each in copies)
    away = news.mark_away(database, now)
    return {"cut": cut, "recounted": following.recount(database), "away": away}


def verify_news(runtime: Runtime, user_id: str) -> dict[str, list[str]]:
    """Compare a reader's stored news with their definition, and repair them.

    Returns `{missing, surplus}`, the ids of posts.
    """
    return repair.verify(runtime, user_id)
