"""Errors of marks, each with its HTTP status and stable code."""

from chalicelib.errors import Problem


class TooManyReactions(Problem):
    """The caller has MAX_REACTIONS different reactions to the thing already."""

    status = 409
    code = "too_many_reactions"
    title = "You have the most reactions to this that one person may have"
