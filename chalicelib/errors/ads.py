"""The errors of ads, of accounts and of counting."""

from chalicelib.errors.general import Problem


class UnknownCampaign(Problem):
    """No campaign has this id."""

    status = 404
    code = "unknown_campaign"
    title = "There is no such campaign"


class UnknownZone(Problem):
    """The site has no zone of this id."""

    status = 404
    code = "unknown_zone"
    title = "There is no such zone on this site"


class ZoneChanged(Problem):
    """The zone is not of the version that was to be looked at."""

    status = 409
    code = "zone_changed"
    title = "The zone has changed since that decision"


class FlightOver(Problem):
    """The campaign's flight has ended, so it cannot be activated."""

    status = 409
    code = "flight_over"
    title = "The campaign's flight is over"


class ZoneFull(Problem):
    """A zone that the campaign targets has no room for its ads; the detail names the zones."""

    status = 409
    code = "zone_full"
    title = "A zone has no room for this campaign's ads"


# Accounts and counting


class UnknownAccount(Problem):
    """No account has this id."""

    status = 404
    code = "unknown_account"
    title = "There is no such account"


class InsufficientFunds(Problem):
    """The account holds less than the transfer asks for; nothing has moved."""

    status = 409
    code = "insufficient_funds"
    title = "The account does not hold this much"


class IdempotencyKeyReused(Problem):
    """The key stands for another transfer of this account."""

    status = 409
    code = "idempotency_key_reused"
    title = "This Idempotency-Key was used for another transfer"


class TransferInProgress(Problem):
    """Another call with the same key is under way."""

    status = 409
    code = "transfer_in_progress"
    title = "This transfer is under way"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "1"})


class BudgetCommitted(Problem):
    """The total would be below what the campaign has spent or leased."""

    status = 409
    code = "budget_committed"
    title = "The campaign has spent or promised more than this budget"


class InvalidToken(Problem):
    """The token was altered, cut, signed with another key, or made for another use."""

    status = 400
    code = "invalid_token"
    title = "The token is not one that Plaza gave out for this"


class ReportTooLarge(Problem):
    """A report as a file would have more rows than one can."""

    status = 422
    code = "report_too_large"
    title = "This report has more than 20,000 rows: ask for less time at once"


class TokenExpired(Problem):
    """The token's day is over."""

    status = 410
    code = "token_expired"
    title = "The token has expired"
