"""The errors of the social feed."""

from chalicelib.errors.general import Problem


class UnknownUser(Problem):
    """No user has this id."""

    status = 404
    code = "unknown_user"
    title = "There is no such user"


class UnknownCircle(Problem):
    """The user has no circle of this id."""

    status = 404
    code = "unknown_circle"
    title = "You have no such circle"


class UnknownPost(Problem):
    """No post has this id, or the caller may not see it."""

    status = 404
    code = "unknown_post"
    title = "There is no such post"


class CannotCircleSelf(Problem):
    """Users cannot be members of their own circles."""

    status = 422
    code = "cannot_circle_self"
    title = "You cannot put yourself into a circle of yours"


class TooManyCircles(Problem):
    """The user has as many circles as one can have."""

    status = 409
    code = "too_many_circles"
    title = "You have 100 circles already"


class CannotCircle(Problem):
    """One of the two users blocks the other."""

    status = 409
    code = "cannot_circle"
    title = "One of you has blocked the other"


class CannotBlockSelf(Problem):
    """Users cannot block themselves."""

    status = 422
    code = "cannot_block_self"
    title = "You cannot block yourself"


class TooManyBlocked(Problem):
    """The user has blocked, or is blocked by, as many as a document holds."""

    status = 409
    code = "too_many_blocked"
    title = "You have blocked 10,000 users already"


class NotFailed(Problem):
    """The fan-out was not given up, so there is nothing to try again."""

    status = 409
    code = "not_failed"
    title = "This fan-out has not failed"
