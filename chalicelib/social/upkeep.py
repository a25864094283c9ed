"""What the schedules and commands of the social feed do."""

from datetime import datetime

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social import errands, fan_out, graph, news, repair, spreading, walls
from chalicelib.social.activity import fan_out as action_fan_out
from chalicelib.social.month_copies import MonthCopies


def sweep(runtime: Runtime) -> None:
    """Send again whatever is owed and overdue."""
    fan_out.sweep(runtime)
    action_fan_out.sweep(runtime)
    spreading.sweep(runtime)
    errands.sweep(runtime)


def tend(database: Database[Document], now: datetime) -> dict[str, int]:
    """Cut copies that show too many comments, mend counts, and mark who has not been seen.

    Returns how many documents were `cut`, how many counts, which a crash left behind, were
    `recounted`, and how many users are `away` since the last time.
    """
    copies = (MonthCopies(database, walls.WALLS), MonthCopies(database, news.NEWS))
    cut = sum(each.truncate_comments() for each in copies)
    away = news.mark_away(database, now)
    return {"cut": cut, "recounted": graph.recount(database), "away": away}


def verify_news(runtime: Runtime, user_id: str) -> dict[str, list[str]]:
    """Compare a reader's stored news with their definition, and repair them.

    Returns `{missing, surplus}`, the ids of posts.
    """
    return repair.verify(runtime, user_id)
