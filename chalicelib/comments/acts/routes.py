"""Reading the log of moderation and undoing its acts over HTTP."""

from chalicelib.comments.acts import undoing
from chalicelib.comments.errors import ActNotUndoable, ChangedSince, UnknownAct
from chalicelib.comments.log import reading
from chalicelib.comments.log.forms import ActAnswer, ActId, LogAnswer, LogQuery
from chalicelib.http import Created, Ok, Request, Route
from chalicelib.http.callers import Moderator


def declare(route: Route) -> None:
    """Declare the routes."""

    @route("GET", "/moderation/log")
    def list_moderation_acts(
        request: Request, moderator: Moderator, query: LogQuery
    ) -> Ok[LogAnswer]:
        """Read what moderators have done at a site, the latest first; it is kept for two years."""
        return Ok(reading.list_acts(request.runtime, query, moderator))

    @route(
        "POST",
        "/moderation/log/{act}/undo",
        raises=(UnknownAct, ActNotUndoable, ChangedSince),
    )
    def undo_moderation_act(
        request: Request, act: ActId, moderator: Moderator
    ) -> Created[ActAnswer]:
        """Set back what an act has changed, if nobody has changed it since.

        That is an act in turn, which can be undone. A text that was edited or deleted is gone.
        """
        return Created(undoing.undo(request.runtime, act, moderator))
