"""Errors of marks, each with its HTTP status and stable code."""

from chalicelib.errors import Problem


class TooManyReactions(Problem):
    """The caller has as many different reactions to this as one person may have."""

    status = 409
    code = "too_many_reactions"
    title = "You have the most reactions to this that one person may have"
