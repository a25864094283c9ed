"""The form in which the API answers about a site."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.sites.ids import SiteId
from chalicelib.sites.settings import WHOLE_BP


class SiteAnswer(TypedDict):
    """A site and its share of what its ads earn."""

    id: SiteId
    revenue_share: Annotated[
        float,
        Field(
            ge=0, le=1, description="Its part of what is billed, as 0.7 for 70%.", examples=[0.7]
        ),
    ]


def site_answer(site_id: str, share_bp: int) -> SiteAnswer:
    """Return a site as the API shows it."""
    return {"id": site_id, "revenue_share": share_bp / WHOLE_BP}
