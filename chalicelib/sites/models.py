"""Request bodies of sites."""

import math

from pydantic import ConfigDict, Field, field_validator

from chalicelib.http import Input
from chalicelib.sites.settings import WHOLE_BP


class SiteShare(Input):
    """A site's share of what is billed from now on."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"revenue_share": 0.65}]})

    revenue_share: float = Field(
        ge=0,
        le=1,
        description="Its part of what is billed, as 0.7 for 70%; in steps of 0.0001.",
    )

    @field_validator("revenue_share")
    @classmethod
    def _check_step(cls, share: float) -> float:
        if not math.isclose(share * WHOLE_BP, round(share * WHOLE_BP), abs_tol=1e-6):
            raise ValueError(f"a share must be a multiple of {1 / WHOLE_BP}")
        return share
