"""The errors of payments."""

from chalicelib.errors import Problem


class PaymentsNotSetUp(Problem):
    """The shop's payments cannot be taken in this deployment."""

    status = 409
    code = "payments_not_set_up"
    title = "This shop cannot take payments yet"


class AmountNotTaken(Problem):
    """The provider charges no such amount; `facts` say of what it has to be a multiple."""

    status = 409
    code = "amount_not_taken"
    title = "This shop's payments cannot take this amount"

    def __init__(self, total_micros: int, step_micros: int) -> None:
        super().__init__(facts={"total_micros": total_micros, "step_micros": step_micros})


class InvalidWebhook(Problem):
    """The event is not signed by the payments' provider, or is older than five minutes."""

    status = 400
    code = "invalid_webhook"
    title = "This event is not signed by the provider"
