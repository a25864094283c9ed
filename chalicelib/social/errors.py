"""Refusals of the social feed, with the status and the code that callers rely on."""

from chalicelib.errors import Problem


class UnknownUser(Problem):
    """No user has this id."""

    status = 404
    code = "unknown_user"
    title = "User not found"


class ReservedName(Problem):
    """The name belongs to staff or to the deployment, or looks like such a name."""

    status = 422
    code = "reserved_name"
    title = "This name is reserved for staff"


class UnknownCircle(Problem):
    """The user has no circle of this id."""

    status = 404
    code = "unknown_circle"
    title = "Circle not found"


class UnknownPost(Problem):
    """No post has this id, or the caller may not see it."""

    status = 404
    code = "unknown_post"
    title = "Post not found"


class PostTypeNotAllowed(Problem):
    """The deployment accepts no new posts of this type, or no longer registers the type."""

    status = 422
    code = "post_type_not_allowed"
    title = "Posts of this type cannot be written here"


class NotAPoll(Problem):
    """The post is no poll, so it has no votes."""

    status = 409
    code = "not_a_poll"
    title = "This post is not a poll"


class UnknownOption(Problem):
    """The poll has no such option, or no longer has it."""

    status = 422
    code = "unknown_option"
    title = "The poll has no such option"


class PollHasVotes(Problem):
    """The poll has votes, so its author cannot change it."""

    status = 409
    code = "poll_has_votes"
    title = "People have voted in this poll already, so it cannot be changed"


class NotFollowed(Problem):
    """The reader does not follow the author, so cannot watch the author."""

    status = 409
    code = "not_followed"
    title = "Follow this user first"


class CannotCircleSelf(Problem):
    """Users cannot be members of their own circles."""

    status = 422
    code = "cannot_circle_self"
    title = "You cannot be a member of your own circle"


class TooManyCircles(Problem):
    """The user already has the maximum number of circles."""

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


class NotFailed(Problem):
    """The fan-out has not failed, so there is nothing to retry."""

    status = 409
    code = "not_failed"
    title = "This fan-out has not failed"


class UnknownAction(Problem):
    """No action has this id, or the caller may not see it."""

    status = 404
    code = "unknown_action"
    title = "Action not found"


class NoOrgUnit(Problem):
    """The actor has no team, or department, for an action of this scope."""

    status = 409
    code = "no_org_unit"
    title = "You have no team or department for this scope"


class OwnManager(Problem):
    """A person cannot be their own manager."""

    status = 422
    code = "own_manager"
    title = "A person cannot be their own manager"


class CannotMuteSelf(Problem):
    """Users cannot mute themselves."""

    status = 422
    code = "cannot_mute_self"
    title = "You cannot mute yourself"


class TooManyMuted(Problem):
    """The user already mutes the maximum number of people."""

    status = 409
    code = "too_many_muted"
    title = "You have muted 1,000 people already"


class SpeaksForOthers(Problem):
    """The descriptor names another user, and the caller is no application."""

    status = 403
    code = "speaks_for_others"
    title = "Only an application may report what somebody else did"


class UnknownPerson(Problem):
    """An action names a user who does not exist."""

    status = 422
    code = "unknown_person"
    title = "This action names a user who does not exist"


class NobodyToTell(Problem):
    """The audience has no user who can receive the action.

    Each person in it is unknown, has a block with the actor, or has no tie to the actor.
    """

    status = 422
    code = "nobody_to_tell"
    title = "Nobody in this audience can receive this action"
