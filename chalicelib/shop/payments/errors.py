"""The errors of payments."""

from chalicelib.errors import Problem


class PaymentsNotSetUp(Problem):
    """The shop's payments cannot be taken in this deployment."""

    status = 409
    code = "payments_not_set_up"
    title = "This shop cannot take payments yet"


class InvalidWebhook(Problem):
    """The event is not signed by the payments' provider, or is older than five minutes."""

    status = 400
    code = "invalid_webhook"
    title = "This event is not signed by the provider"
