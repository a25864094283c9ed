"""The faults that a campaign's model finds."""

from typing import Any

from pydantic import ValidationError

from tests.ads.support.factories import (
    ad_unit,
    campaign,
)


def faults(**changes: Any) -> list[str]:
    """The fields at fault of a campaign with these changes."""
    try:
        campaign(**changes)
    except ValidationError as error:
        return [".".join(map(str, fault["loc"])) for fault in error.errors()]
    return []


def unit_faults(**changes: Any) -> list[str]:
    return faults(ad_units=[ad_unit(**changes)])
