"""What the schedules and commands of the social feed do."""

from pymongo.database import Database

from chalicelib.database import Document
from chalicelib.runtime import Runtime
from chalicelib.social import errands, fan_out, graph, news, repair, spreading, walls
from chalicelib.social.month_copies import MonthCopies


def sweep(runtime: Runtime) -> None:
    """Send again whatever is owed and overdue."""
    fan_out.sweep(runtime)
    spreading.sweep(runtime)
    errands.sweep(runtime)


def tend(database: Database[Document]) -> dict[str, int]:
    """Cut the copies that show too many comments, and mend the counts that a crash left behind.

    Returns how many documents were `cut` and how many counts were `recounted`.
    """
    copies = (MonthCopies(database, walls.WALLS), MonthCopies(database, news.NEWS))
    cut = sum(each.truncate_comments() for each in copies)
    return {"cut": cut, "recounted": graph.recount(database)}


def verify_news(runtime: Runtime, user_id: str) -> dict[str, list[str]]:
    """Compare a reader's stored news with their definition, and repair them.

    Returns `{missing, surplus}`, the ids of posts.
    """
    return repair.verify(runtime, user_id)
