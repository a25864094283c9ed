"""Problems of web push."""

from chalicelib.errors import Problem


class PushOff(Problem):
    """The deployment has no key for push services."""

    status = 409
    code = "push_off"
    title = "This deployment sends no push messages"


class UnknownPushService(Problem):
    """The endpoint of a subscription is of no push service that Plaza sends to."""

    status = 422
    code = "unknown_push_service"
    title = "Plaza sends nothing to this push service"
