"""Routes of a site: its share of its ad revenue, and its own issuers of tokens."""

import math
from typing import Annotated

from chalice.app import Blueprint
from pydantic import ConfigDict, Field, field_validator
from typing_extensions import TypedDict

from chalicelib.http import Input, Ok, Request, router
from chalicelib.http.callers import Admin, Publisher
from chalicelib.runtime import Runtime
from chalicelib.sites import issuer_routes, settings
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher
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
    """Return a site as the API shows it, with its share as a fraction of 1."""
    return {"id": site_id, "revenue_share": share_bp / WHOLE_BP}


def routes(runtime: Runtime) -> Blueprint:
    """Return the blueprint of sites."""
    blueprint = Blueprint(__name__)
    route = router(blueprint, runtime, "Sites")

    @route("GET", "/sites/{site}")
    def get_site(request: Request, site: SiteId, publisher: Publisher) -> Ok[SiteAnswer]:
        """Read a site's share of what its ads earn."""
        check_publisher(publisher, site)
        return Ok(site_answer(site, settings.get_share(request.runtime.database, site)))

    @route("PUT", "/sites/{site}")
    def put_site(request: Request, site: SiteId, admin: Admin, body: SiteShare) -> Ok[SiteAnswer]:
        """Set a site's share of what its ads earn from now on."""
        del admin
        share_bp = round(body.revenue_share * WHOLE_BP)
        request.details["revenue_share"] = share_bp / WHOLE_BP
        settings.put_share(request.runtime.database, site, share_bp)
        return Ok(site_answer(site, share_bp))

    issuer_routes.declare(route)
    return blueprint
