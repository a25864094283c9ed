"""Request bodies of accounts, transfers and revenue shares."""

import math

from pydantic import Field, field_validator

from chalicelib.ads.accounts import AccountId
from chalicelib.ads.billing.revenue_shares import WHOLE_BP
from chalicelib.ads.bounds import MAX_BUDGET_MICROS
from chalicelib.http import Input


class NewTransfer(Input):
    """The body of `POST /accounts/{id}/transfers`: where to, and how much."""

    to: AccountId
    amount_micros: int = Field(ge=1, le=MAX_BUDGET_MICROS)


class SiteShare(Input):
    """The body of `PUT /sites/{site}`: its part of what is billed, in hundredths of a percent."""

    revenue_share: float = Field(ge=0, le=1)

    @field_validator("revenue_share")
    @classmethod
    def _check_step(cls, share: float) -> float:
        if not math.isclose(share * WHOLE_BP, round(share * WHOLE_BP), abs_tol=1e-6):
            raise ValueError(f"a share must be a multiple of {1 / WHOLE_BP}")
        return share


class Credit(Input):
    """The body of `PUT /accounts/{id}/credit`; null for campaigns that no funds bound.

    Null is for deployments without `PLAZA_PREPAYMENT`: with it, every advertiser has a line.
    """

    credit_micros: int | None = Field(ge=0, le=MAX_BUDGET_MICROS)
