"""Reading the log of moderation and undoing its acts over HTTP."""

from chalicelib.comments.acts import undoing
from chalicelib.comments.errors import ActNotUndoable, ChangedSince, UnknownAct
from chalicelib.comments.log import reading
from chalicelib.comments.log.forms import ActAnswer, ActId, LogAnswer, LogQuery
from chalicelib.http import Created, Ok, Request, Route
from chalicelib.http.callers import Moderator


def declare(route: Route) -> None:
    """Declare the routes of the log of moderation."""

    @route("GET", "/moderation/log")
    def list_moderation_acts(
        request: Request, moderator: Moderator, query: LogQuery
    ) -> Ok[LogAnswer]:
        """Read the acts of a site's moderators, latest first; Plaza stores them for two years."""
        return Ok(reading.list_acts(request.runtime, query, moderator))

    @route(
        "POST",
        "/moderation/log/{act}/undo",
        raises=(UnknownAct, ActNotUndoable, ChangedSince),
    )
    def undo_moderation_act(
        request: Request, act: ActId, moderator: Moderator
    ) -> Created[ActAnswer]:
        """Restore the fields that an act has changed, unless they have changed since.

        The undoing is an act, too, and a moderator may undo it. An undoing restores no text.
        """
        return Created(undoing.undo(request.runtime, act, moderator))
