"""Errors of comments, whose statuses and codes clients rely on."""

from collections.abc import Mapping
from datetime import datetime

from chalicelib.errors import Problem


class UnknownNode(Problem):
    """No node has this id."""

    status = 404
    code = "unknown_node"
    title = "Node not found"

    def __init__(self) -> None:
        super().__init__(
            "The site's publisher makes it (PUT /nodes/{node}), or lets pages make theirs by their "
            "first visit (`first_visits` of PUT /sites/{site}/comments/settings)"
        )


class PageRefused(Problem):
    """A first visit may not make a node for this page; the detail has the reason."""

    status = 403
    code = "page_refused"
    title = "This page cannot make this discussion"


class NodeMoved(Problem):
    """The node has a new id; the answer's Location is the address of the call at the new id."""

    status = 308
    code = "node_moved"
    title = "This node has moved to another id"
    header = "Location"

    def __init__(self, moved_to: str) -> None:
        super().__init__()
        self.moved_to = moved_to


class NodeExists(Problem):
    """A node cannot move to the id of another node."""

    status = 409
    code = "node_exists"
    title = "A node with this id already exists"


class NodeLocked(Problem):
    """The node takes no more comments."""

    status = 409
    code = "node_locked"
    title = "This discussion is locked"


class NodeClosed(Problem):
    """Readers cannot write in the node now; `opens_at` or `closed_at` is the reason."""

    status = 409
    code = "node_closed"
    title = "This discussion is not open now"

    def __init__(self, time: Mapping[str, datetime]) -> None:
        super().__init__(facts=time)


class NodeHasComments(Problem):
    """The node's layout cannot change while it has comments."""

    status = 409
    code = "node_has_comments"
    title = "The node has comments: only a move changes its store, and nothing its threading"


class SiteIsFixed(Problem):
    """The body names another site than the node's."""

    status = 409
    code = "site_is_fixed"
    title = "The node belongs to another site"


class StoreTooSmall(Problem):
    """The node's comments do not fit into the wanted store."""

    status = 409
    code = "store_too_small"
    title = "The node has more comments than this store can hold"


class CommentDeleted(Problem):
    """The comment is a tombstone, which never changes."""

    status = 409
    code = "comment_deleted"
    title = "The comment has been deleted"


class CommentClaimed(Problem):
    """Another moderator reads this comment now."""

    status = 409
    code = "comment_claimed"
    title = "Another moderator is reading this comment"


class CommentChanged(Problem):
    """The comment changed after the caller read it, or during the call.

    `facts` have the present `state`, `edited_at` and `text`; moderators also get the last `act`.
    """

    status = 409
    code = "comment_changed"
    title = "The comment has changed: read it again"


class PersonChanged(Problem):
    """Another moderator decided on the person after the caller read them.

    `facts` have the present `status` and `until`.
    """

    status = 409
    code = "person_changed"
    title = "Another moderator has decided on this person: read them again"


class TooManyPins(Problem):
    """The node has the most pinned comments that it may have."""

    status = 409
    code = "too_many_pins"
    title = "Three comments are pinned: take one of them down first"


class CannotThread(Problem):
    """A store that orders comments by number alone cannot hold a threaded node."""

    status = 422
    code = "cannot_thread"
    title = "This store cannot hold a threaded node; the stores documents and embedded can"


class NotThreaded(Problem):
    """A flat discussion takes no replies."""

    status = 422
    code = "not_threaded"
    title = "This discussion is not threaded: post without a parent"


class CommentTooLarge(Problem):
    """The comment's HTML is over its limit."""

    status = 422
    code = "comment_too_large"
    title = "The comment's HTML is larger than 64 KiB"


class TextRefused(Problem):
    """The text has a phrase that the site rejects."""

    status = 422
    code = "text_refused"
    title = "This text is not taken here"


class Suspended(Problem):
    """The site's moderators have suspended the person. `until`: None for no end."""

    status = 403
    code = "suspended"
    title = "You are suspended here and cannot write for now"

    def __init__(self, until: datetime | None) -> None:
        super().__init__(facts={"until": until})


class Banned(Problem):
    """The site's moderators have banned the person."""

    status = 403
    code = "banned"
    title = "You are banned here and cannot write"


class Duplicate(Problem):
    """The person posted this text at the site within the last day."""

    status = 409
    code = "duplicate"
    title = "You have posted this text already"


class UnknownAct(Problem):
    """The log of moderation has no act with this id; an act stays for two years."""

    status = 404
    code = "unknown_act"
    title = "No such act in the log"


class UnknownBatch(Problem):
    """No batch of moderation has this id; a batch stays for two years."""

    status = 404
    code = "unknown_batch"
    title = "No such batch"


class BatchRunning(Problem):
    """A running batch cannot be undone."""

    status = 409
    code = "batch_running"
    title = "This batch is still running"


class ActNotUndoable(Problem):
    """The act changed nothing, or it changed a text; Plaza stores no former texts."""

    status = 409
    code = "act_not_undoable"
    title = "This act cannot be undone"


class ChangedSince(Problem):
    """A later change has replaced the act's result; `facts` are as in `CommentChanged`."""

    status = 409
    code = "changed_since"
    title = "It has been changed since: nothing was undone"


class OwnComment(Problem):
    """Authors neither vote on their own comments nor flag them."""

    status = 403
    code = "own_comment"
    title = "You cannot vote on your own comment, or flag it"


class NotEnabled(Problem):
    """The publisher disabled votes, reactions, search or notifications of a site or discussion."""

    status = 409
    code = "not_enabled"
    title = "This is switched off here"


class UnknownReaction(Problem):
    """The site offers no such reaction."""

    status = 422
    code = "unknown_reaction"
    title = "This site does not offer this reaction"


class GuestsOff(Problem):
    """The site lets no reader write without an account."""

    status = 403
    code = "guests_off"
    title = "This site has no guests"


class UnknownProvider(Problem):
    """The site has no such provider."""

    status = 404
    code = "unknown_provider"
    title = "This site does not offer this sign-in"


class TooManyProviders(Problem):
    """A site has as many providers as it may have."""

    status = 409
    code = "too_many_providers"
    title = "The site has five providers; remove one first"


class SignInExpired(Problem):
    """No such sign-in began in this browser in the last ten minutes, or its page left the site."""

    status = 400
    code = "sign_in_expired"
    title = "This sign-in has expired, or began in another browser"


class PersonTaken(Problem):
    """Another account has already claimed this guest or imported person."""

    status = 409
    code = "person_taken"
    title = "This guest's past belongs to another account"


class NameTaken(Problem):
    """A person at the site has the name, or a name that looks like it."""

    status = 409
    code = "name_taken"
    title = "Someone else here has this name"


class ImportRunning(Problem):
    """The site has another import, which is open or whose lease a worker holds.

    `facts` may have the id of the open `import`, or `until`, the end of the lease.
    """

    status = 409
    code = "import_running"
    title = "Another import of this site is running"


class UnknownLink(Problem):
    """A link or code is unknown, used or expired."""

    status = 404
    code = "unknown_link"
    title = "This link has been used already, or is too old"


class ExportRunning(Problem):
    """Another export of the site is being written."""

    status = 409
    code = "export_running"
    title = "Another export of this site is running"


class UnknownTransfer(Problem):
    """The site has no such import or export, or its file is gone."""

    status = 404
    code = "unknown_transfer"
    title = "There is no such import or export"


class WrongStep(Problem):
    """The import is at another step; `facts` have its state."""

    status = 409
    code = "wrong_step"
    title = "The import is at another step"


class FileTooLarge(Problem):
    """A file is larger than the deployment can store."""

    status = 413
    code = "file_too_large"
    title = "The file is too large"
