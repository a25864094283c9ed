"""Errors of webhooks, each with its HTTP status and stable code."""

from chalicelib.errors import Problem


class TooManyHooks(Problem):
    """A site has as many hooks as it may have."""

    status = 409
    code = "too_many_hooks"
    title = "The site has 20 webhooks; remove one first"


class AddressRefused(Problem):
    """Plaza sends nothing to this address; it does not say why."""

    status = 422
    code = "address_refused"
    title = "Webhooks go to public https addresses on port 443"


class UnknownHook(Problem):
    """The site has no hook of this id."""

    status = 404
    code = "unknown_hook"
    title = "The site has no such webhook"


class UnknownDelivery(Problem):
    """The hook has no delivery of this id, or no longer."""

    status = 404
    code = "unknown_delivery"
    title = "The webhook has no such delivery"
