"""What the matrix says of the ad network's routes."""

from tests.ads.support.factories import BANNER, campaign_body
from tests.security.support import world as worlds
from tests.security.support.callers import OWN_ADVERTISER, OWN_SITE
from tests.security.support.row import OWNERS, Row

CAMPAIGN = campaign_body(f"{OWN_SITE}/banner")
ADS = (
    Row("GET /ads/{site}/{zone}", {200: "*"}),
    Row(
        "GET /ads/{site}/{zone}/explain",
        {
            200: "owners_of_the_site owners_of_the_campaign advertiser_other advertiser_none",
            401: "anonymous",
            403: "*",
        },
    ),
    Row("POST /ads/events/{event}", {204: "*"}, body={}),
    Row("GET /ads/events/{event}/pixel", {200: "*"}),
    Row("GET /ads/click/{click}", {302: "*"}),
    Row("GET /ads/conversions/{advertiser}/pixel", {403: "*"}, "unsigned"),
    Row(
        "GET /advertisers/{advertiser}/conversion-key",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
    ),
    Row(
        "POST /advertisers/{advertiser}/conversion-key",
        {201: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        body={},
    ),
    Row(
        "POST /sites/{site}/visitors",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body={"name": "ann"},
    ),
    Row("DELETE /visitors/{visitor}", {204: "admin", 401: "anonymous", 403: "*"}),
    Row("DELETE /visitors/{visitor}", {204: "*"}, "without a cookie", path={"visitor": "me"}),
    Row(
        "PUT /campaigns/{campaign}",
        {200: "admin", 201: "advertiser_own", 401: "anonymous", 403: "*"},
        "new",
        CAMPAIGN,
        path={"campaign": f"{OWN_ADVERTISER}:new"},
    ),
    Row(
        "PUT /campaigns/{campaign}",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        "existing",
        CAMPAIGN,
        made=worlds.campaign,
    ),
    Row("GET /campaigns/{campaign}", {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"}),
    Row(
        "GET /campaigns/{campaign}",
        {401: "anonymous", 404: "owners_of_the_campaign", 403: "*"},
        "unknown",
        path={"campaign": f"{OWN_ADVERTISER}:none"},
    ),
    Row(
        "POST /campaigns/{campaign}/activate",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        body={},
        made=worlds.campaign,
    ),
    Row(
        "POST /campaigns/{campaign}/deactivate",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        body={},
        made=worlds.campaign,
    ),
    Row(
        "DELETE /campaigns/{campaign}",
        {204: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        made=worlds.campaign,
    ),
    Row(
        "DELETE /sites/{site}/zones/{zone}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
        made=worlds.zone,
    ),
    Row("GET /creatives/{token}", {400: "*"}, "forged", path={"token": "forged"}),
    Row(
        "GET /campaigns/{campaign}/budget",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
    ),
    Row(
        "PUT /sites/{site}/zones/{zone}",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        body={"size": BANNER},
        made=worlds.zone,
    ),
    Row("GET /sites/{site}/zones/{zone}", {200: "owners_of_the_site", 401: "anonymous", 403: "*"}),
    Row(
        "GET /sites/{site}/zones/{zone}",
        {401: "anonymous", 404: "owners_of_the_site", 403: "*"},
        "unknown",
        path={"zone": "none"},
    ),
    Row("GET /sites/{site}", {200: "owners_of_the_site", 401: "anonymous", 403: "*"}),
    Row(
        "PUT /sites/{site}", {200: "admin", 401: "anonymous", 403: "*"}, body={"revenue_share": 0.5}
    ),
    Row(
        "PUT /sites/{site}/issuers/{issuer}",
        OWNERS,
        body={"iss": "https://alpha.example", "secret": "x" * 32},
    ),
    Row("GET /sites/{site}/issuers", OWNERS),
    Row(
        "DELETE /sites/{site}/issuers/{issuer}",
        {204: "owners_of_the_site", 401: "anonymous", 403: "*"},
    ),
    Row(
        "GET /accounts/{account}",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        "of an advertiser",
    ),
    Row(
        "GET /accounts/{account}",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        "of a site",
        path={"account": f"site:{OWN_SITE}"},
    ),
    Row(
        "GET /accounts/{account}",
        {200: "admin", 401: "anonymous", 403: "*"},
        "of the bank",
        path={"account": "bank"},
    ),
    Row(
        "PUT /accounts/{account}/credit",
        {200: "admin", 401: "anonymous", 403: "*"},
        body={"credit_micros": None},
    ),
    Row(
        "POST /accounts/{account}/transfers",
        {201: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        "from an advertiser",
        {"to_account_id": f"site:{OWN_SITE}", "amount_micros": 1},
    ),
    Row(
        "POST /accounts/{account}/transfers",
        {201: "owners_of_the_site", 401: "anonymous", 403: "*"},
        "from a site",
        {"to_account_id": "bank", "amount_micros": 1},
        path={"account": f"site:{OWN_SITE}"},
    ),
    Row(
        "POST /accounts/{account}/transfers",
        {201: "admin", 401: "anonymous", 403: "*"},
        "from the bank",
        {"to_account_id": f"site:{OWN_SITE}", "amount_micros": 1},
        path={"account": "bank"},
    ),
    Row(
        "GET /reports/campaigns/{campaign}",
        {200: "owners_of_the_campaign", 401: "anonymous", 403: "*"},
        query="?by=day&from=2026-03-01&to=2026-03-02",
    ),
    Row(
        "GET /reports/sites/{site}",
        {200: "owners_of_the_site", 401: "anonymous", 403: "*"},
        query="?by=day&from=2026-03-01&to=2026-03-02",
    ),
)
