"""The errors of votes and reactions."""

from chalicelib.errors import Problem


class OwnComment(Problem):
    """Nobody votes on a comment of their own, or flags it."""

    status = 403
    code = "own_comment"
    title = "You cannot vote on your own comment, or flag it"


class NotEnabled(Problem):
    """The publisher has switched this off, for the site or for this discussion."""

    status = 409
    code = "not_enabled"
    title = "This is switched off here"


class UnknownReaction(Problem):
    """The site offers no such reaction."""

    status = 422
    code = "unknown_reaction"
    title = "This site does not offer this reaction"
