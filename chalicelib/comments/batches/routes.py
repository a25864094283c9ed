"""Routes of batches: a moderator begins, reads and undoes them."""

from chalicelib.comments.batches import starting
from chalicelib.comments.batches.forms import BatchAnswer, BatchId, BatchStart, batch_answer
from chalicelib.comments.errors import BatchRunning, UnknownBatch
from chalicelib.http import Accepted, Ok, Request, Route
from chalicelib.http.callers import Moderator


def declare(route: Route) -> None:
    """Declare the routes of batches."""

    @route("POST", "/moderation/batches")
    def begin_batch(
        request: Request, moderator: Moderator, body: BatchStart
    ) -> Accepted[BatchAnswer]:
        """Set the state of many comments of a site: of named comments, or of all by one person.

        A worker decides one comment after the other, each with a row in the log.
        """
        return Accepted(batch_answer(starting.begin(request.runtime, body, moderator)))

    @route("GET", "/moderation/batches/{batch}", raises=(UnknownBatch,))
    def read_batch(request: Request, batch: BatchId, moderator: Moderator) -> Ok[BatchAnswer]:
        """Read a batch and its progress; Plaza stores batches for two years."""
        return Ok(batch_answer(starting.find(request.runtime, batch, moderator)))

    @route("POST", "/moderation/batches/{batch}/undo", raises=(UnknownBatch, BatchRunning))
    def undo_batch(request: Request, batch: BatchId, moderator: Moderator) -> Accepted[BatchAnswer]:
        """Undo the decisions of an ended batch, except where a later change replaced them.

        The undoing is a batch, too, and a moderator may undo it.
        """
        return Accepted(batch_answer(starting.undo(request.runtime, batch, moderator)))
