"""Request bodies of accounts, transfers and credit lines."""

from pydantic import ConfigDict, Field

from chalicelib.ads.accounts import AccountId
from chalicelib.ads.bounds import MAX_BUDGET_MICROS
from chalicelib.http import Input


class NewTransfer(Input):
    """A transfer out of an account: where to, and how much."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"to_account_id": "advertiser:north-bikes", "amount_micros": 50_000_000}]
        }
    )

    to_account_id: AccountId = Field(description="Another account than the one that pays.")
    amount_micros: int = Field(
        ge=1, le=MAX_BUDGET_MICROS, description="In millionths of the currency."
    )


class CreditLine(Input):
    """The credit line of an advertiser's account."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"credit_micros": 1_000_000_000}]})

    credit_micros: int | None = Field(
        ge=0,
        le=MAX_BUDGET_MICROS,
        description="What its campaigns may take on beyond its balance, in millionths of the "
        "currency. Null for campaigns that no funds bound, in a deployment without "
        "`PLAZA_PREPAYMENT` alone.",
    )
