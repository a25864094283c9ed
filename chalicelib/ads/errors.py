"""The errors of ads, of accounts and of counting."""

from chalicelib.errors import FieldError, Problem


class UnknownCampaign(Problem):
    """No campaign has this id."""

    status = 404
    code = "unknown_campaign"
    title = "Campaign not found"


class CampaignDeleted(Problem):
    """The campaign was deleted; its id names its reports for good, and is not given again."""

    status = 409
    code = "campaign_deleted"
    title = "A campaign with this id was deleted: choose another id"


class UnknownZone(Problem):
    """The site has no zone of this id."""

    status = 404
    code = "unknown_zone"
    title = "Zone not found on this site"


class UnknownCreative(Problem):
    """The creative was changed or removed after its frame's address was given out."""

    status = 404
    code = "unknown_creative"
    title = "This creative has been changed or removed"


class ZoneChanged(Problem):
    """The zone's version is not the version that the call names."""

    status = 409
    code = "zone_changed"
    title = "The zone has changed since that decision"

    def __init__(self, detail: str) -> None:
        super().__init__(detail, errors=[FieldError("version", self.code, detail)])


class FlightOver(Problem):
    """The campaign's flight has ended, so it cannot be activated."""

    status = 409
    code = "flight_over"
    title = "The campaign's flight has ended"


# Accounts and counting


class UnknownAccount(Problem):
    """No account has this id."""

    status = 404
    code = "unknown_account"
    title = "Account not found"


class InsufficientFunds(Problem):
    """The account cannot spare the transfer's amount; nothing has moved."""

    status = 409
    code = "insufficient_funds"
    title = "The account's balance is too low"


class TransferInProgress(Problem):
    """Another call with the same key is under way."""

    status = 409
    code = "transfer_in_progress"
    title = "This transfer is in progress"
    header = "Retry-After"

    def __init__(self) -> None:
        super().__init__(headers={"Retry-After": "1"})


class TooManyTransfers(Problem):
    """An account has as many transfers under way as it can; nothing has moved."""

    status = 409
    code = "too_many_transfers"
    title = "Too many transfers of this account are in progress"
    header = "Retry-After"

    def __init__(self, detail: str | None = None) -> None:
        super().__init__(detail, headers={"Retry-After": "1"})


class BudgetCommitted(Problem):
    """The total would be below what the campaign has spent or leased."""

    status = 409
    code = "budget_committed"
    title = "The campaign has spent or promised more than this budget"

    def __init__(self) -> None:
        super().__init__(errors=[FieldError("budget.total_micros", self.code, self.title)])


class InvalidToken(Problem):
    """The token was altered, cut, signed with another key, or made for another use."""

    status = 400
    code = "invalid_token"
    title = "The token is not valid for this call"


class InvalidSignature(Problem):
    """The conversion is not signed by a key of its advertiser."""

    status = 403
    code = "invalid_signature"
    title = "This conversion is not signed by its advertiser"


class TokenExpired(Problem):
    """The token has expired: after 24 hours; a frame's, at the end of the next day (UTC)."""

    status = 410
    code = "token_expired"
    title = "The token has expired"
