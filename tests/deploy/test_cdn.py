"""CloudFront in front of the API: what it keeps, for whom, and that nobody passes it by."""

import fnmatch
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from pydantic import SecretStr

from app import app as declared_app
from chalicelib.analytics.visitors.agents import COUNTRY_PROOF_HEADER
from chalicelib.settings import Settings
from deploy.cdn import ALL_VIEWER_EXCEPT_HOST, CACHING_DISABLED, COUNTRY_HEADER, PROOF_HEADER
from tests.deploy.support.reading import condition, deployed_with, properties
from tests.support.http_client import Client, Reply
from tests.support.workers import Workers

pytestmark = pytest.mark.processes

NODE = "harbour:moon"
LISTING = f"/nodes/{NODE}/comments"
HTML = {"Accept": "text/html"}
ON = {"Cdn": "true"}
CDN_PARTS = ("Distribution", "CdnFiles", "CdnListings", "CdnListingsCall", "CdnHits")
# The end of the stack's id, as `deployed_with` names it.
PROOF = "of-this-stack-alone"


def config(template: Any) -> Any:
    return template["Resources"]["Distribution"]["Properties"]["DistributionConfig"]


class Edge:
    """One of CloudFront's caches before the app, as the template configures it."""

    def __init__(self, template: Any, api: Client) -> None:
        self._resources = template["Resources"]
        self._config = config(template)
        self._api = api
        self._kept: dict[Any, Reply] = {}
        self.asked = 0
        # Where the callers are, by their addresses.
        self.country = "DE"

    def behavior(self, path: str) -> Any:
        """Return the behavior that a path has: the first whose pattern fits."""
        for each in self._config["CacheBehaviors"]:
            if fnmatch.fnmatchcase(path, each["PathPattern"]):
                return each
        return self._config["DefaultCacheBehavior"]

    def get(self, path: str, headers: Mapping[str, str], sub: str | None = None) -> Reply:
        """Answer a call from the cache, or ask the API and keep what may be kept."""
        caller = self._api.as_(sub) if sub else self._api
        called = {**headers, **({"Authorization": sub} if sub else {})}
        behavior = self.behavior(path.partition("?")[0])
        policy = behavior["CachePolicyId"]
        key = self._key(policy, path, called)
        if key in self._kept:
            return self._kept[key]
        self.asked += 1
        answer = caller.request("GET", path, headers=self._forwarded(behavior, headers))
        if policy != CACHING_DISABLED and may_be_kept(answer):
            self._kept[key] = answer
        return answer

    def _policy(self, reference: Any) -> Any:
        (config,) = self._resources[reference["Ref"]]["Properties"].values()
        return config

    def _key(self, policy: Any, path: str, headers: Mapping[str, str]) -> Any:
        if policy == CACHING_DISABLED:
            return None
        keyed = self._policy(policy)["ParametersInCacheKeyAndForwardedToOrigin"]
        assert keyed["CookiesConfig"] == {"CookieBehavior": "none"}
        names = self._keyed_headers(policy)
        shown = (
            path
            if keyed["QueryStringsConfig"]["QueryStringBehavior"] == "all"
            else (path.partition("?")[0])
        )
        return shown, *(headers.get(name) for name in names)

    def _forwarded(self, behavior: Any, headers: Mapping[str, str]) -> dict[str, str]:
        """Return the headers that reach the API; the token goes with whoever calls."""
        policy = behavior.get("OriginRequestPolicyId")
        sent = {} if policy is None else dict(headers)
        if policy != ALL_VIEWER_EXCEPT_HOST:
            sent.pop("Cookie", None)
        if COUNTRY_HEADER in self._keyed_headers(behavior["CachePolicyId"]):
            sent[COUNTRY_HEADER] = self.country
        (origin,) = (
            each for each in self._config["Origins"] if each["Id"] == behavior["TargetOriginId"]
        )
        for each in origin["OriginCustomHeaders"]:
            sent[each["HeaderName"]] = PROOF
        return sent

    def _keyed_headers(self, policy: Any) -> list[str]:
        if policy == CACHING_DISABLED:
            return []
        keyed = self._policy(policy)["ParametersInCacheKeyAndForwardedToOrigin"]
        return list(keyed["HeadersConfig"].get("Headers", []))

    def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Pass a call on, which nothing keeps."""
        sent = self._forwarded(self.behavior(path), headers)
        return self._api.request("POST", path, body=body, headers=sent)


def may_be_kept(answer: Reply) -> bool:
    """Return whether a shared cache with a least time of 0 keeps an answer."""
    directives = answer.headers.get("Cache-Control", "no-store")
    return "max-age" in directives and not re.search("private|no-store|no-cache", directives)


@pytest.fixture
def edge(template: Any, client: Client) -> Edge:
    admin = client.as_("admin", roles=["admin"])
    assert admin.put(f"/nodes/{NODE}", title="Moon", url="https://a.example/").status == 201
    first = client.as_("ann").post(LISTING, text="First.").json["id"]
    client.as_("ben").post(LISTING, text="Second.", parent=first)
    return Edge(template, client)


def test_a_page_of_comments_for_everybody_is_fetched_once(edge: Edge) -> None:
    pages = [edge.get(LISTING, {}) for _ in range(3)]

    assert edge.asked == 1
    assert [each.json["count"] for each in pages] == [2, 2, 2]


def test_each_caller_form_origin_and_query_gets_its_own_page(edge: Edge, client: Client) -> None:
    """In whatever order they come: each gets what the API alone would answer."""
    thread = f"{LISTING}/{client.get(LISTING).json['comments'][0]['id']}/thread"
    calls: list[tuple[str, dict[str, str], str | None]] = [
        (path, headers, sub)
        for path in (LISTING, f"{LISTING}?{urlencode({'limit': 1})}", thread)
        for headers in ({}, HTML, {"Origin": "https://a.example"}, {"Cookie": "plaza_visitor=x"})
        for sub in ("ann", None, "ben")
    ]
    for path, headers, sub in [*calls, *reversed(calls)]:
        caller = client.as_(sub) if sub else client
        plain = {name: value for name, value in headers.items() if name != "Cookie"}
        direct = caller.request("GET", path, headers=plain)

        assert edge.get(path, headers, sub).body == direct.body


@pytest.mark.parametrize("status", [200, 401, 404])
def test_nothing_of_anybodys_own_is_kept(edge: Edge, status: int) -> None:
    path = {200: "/me", 401: "/me", 404: f"/nodes/{NODE}-no/comments"}[status]
    sub = None if status == 401 else "ann"
    for asked in (1, 2):
        assert edge.get(path, {}, sub).status == status
        assert edge.asked == asked


def test_the_elements_files_are_fetched_once_whoever_asks(edge: Edge, client: Client) -> None:
    loader = client.get("/web/v1/plaza.js").body.decode()
    found = re.search(r'"\.\./([^"]+comments\.js)"', loader)
    assert found
    for sub in (None, "ann"):
        for headers in ({}, {"Cookie": "a=b"}, {"Origin": "https://b.example"}):
            answer = edge.get(f"/web/{found[1]}", headers, sub)
            assert answer.headers["Access-Control-Allow-Origin"] == "*"
            assert "immutable" in answer.headers["Cache-Control"]
    # A token goes no further than the edge, so that nobody's answer is private.
    assert edge.asked <= 2


def test_the_routes_that_are_kept_are_those_that_say_so(template: Any, client: Client) -> None:
    edge = Edge(template, client)
    kept = {
        path
        for path in declared_app.routes
        if edge.behavior(re.sub(r"{\w+}", "x", path))["CachePolicyId"] != CACHING_DISABLED
    }

    assert kept == {
        "/changes",
        "/nodes/{node}/comments",
        "/nodes/{node}/comments/{comment}/thread",
        "/web/{version}/{file}",
        # In name alone, to learn the caller's country.
        "/hits",
        "/hits/ignore",
        "/hits/{site}/pixel",
    }


def test_no_policy_keeps_what_its_answer_forbids(template: Any) -> None:
    for name in ("CdnFiles", "CdnListings"):
        policy = template["Resources"][name]["Properties"]["CachePolicyConfig"]
        assert (policy["MinTTL"], policy["DefaultTTL"]) == (0, 0)
    errors = config(template)["CustomErrorResponses"]
    assert {each["ErrorCachingMinTTL"] for each in errors} == {0}
    # Those for which CloudFront has a time of its own, less 416, which it never keeps.
    assert {each["ErrorCode"] for each in errors} == {
        *(400, 403, 404, 405, 414),
        *(500, 501, 502, 503, 504),
    }


def test_everything_but_what_is_kept_reaches_the_api_whole(template: Any) -> None:
    default = config(template)["DefaultCacheBehavior"]

    assert default["CachePolicyId"] == CACHING_DISABLED
    assert default["OriginRequestPolicyId"] == ALL_VIEWER_EXCEPT_HOST
    for each in (default, *config(template)["CacheBehaviors"]):
        assert each["ViewerProtocolPolicy"] == "https-only"
        if each.get("PathPattern") != "/web/*":
            assert {"POST", "PUT", "PATCH", "DELETE"} <= {*each["AllowedMethods"]}


def test_it_is_off_unless_it_is_asked_for(template: Any) -> None:
    assert template["Parameters"]["Cdn"]["Default"] == "false"
    assert not condition(template, "HasCdn")
    for name, resource in template["Resources"].items():
        is_ours = resource["Type"].startswith("AWS::CloudFront::")
        assert is_ours == (name in CDN_PARTS)
        assert not is_ours or resource["Condition"] == "HasCdn"
    assert template["Outputs"]["CdnURL"]["Condition"] == "HasCdn"


def test_nobody_passes_it_by(template: Any) -> None:
    """Calls past it could name any address of a caller in X-Forwarded-For."""
    rules = template["Resources"]["WebAcl"]["Properties"]["Rules"]
    (before,), (behind,) = (deployed_with(template, rules, **each) for each in ({}, ON))
    proof, with_country = (each["OriginCustomHeaders"] for each in config(template)["Origins"])

    assert before["Name"] == "rate-of-an-address"
    refused = behind["Statement"]["NotStatement"]["Statement"]["ByteMatchStatement"]
    assert behind["Action"] == {"Block": {}}
    assert refused["FieldToMatch"] == {"SingleHeader": {"Name": PROOF_HEADER}}
    assert refused["PositionalConstraint"] == "EXACTLY"
    assert refused["SearchString"] == "of-this-stack-alone"
    assert deployed_with(template, proof) == [added(PROOF_HEADER)]
    both = [added(PROOF_HEADER), added(COUNTRY_PROOF_HEADER)]
    assert deployed_with(template, with_country) == both
    variable = properties(template, "APIHandler")["Environment"]["Variables"]["PLAZA_CDN_PROOF"]
    own = {"CdnProof": "of a CDN of one's own"}
    cases: list[dict[str, str]] = [{}, ON, own]
    found = [deployed_with(template, variable, **each) for each in cases]
    assert found == ["", PROOF, own["CdnProof"]]


def added(name: str) -> dict[str, str]:
    return {"HeaderName": name, "HeaderValue": PROOF}


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The settings of an API behind the distribution."""
    return settings.model_copy(update={"cdn_proof": SecretStr(PROOF)})


FORGED = {
    COUNTRY_HEADER: "FR",
    "CF-IPCountry": "FR",
    PROOF_HEADER: "guessed by a caller",
    COUNTRY_PROOF_HEADER: "guessed by a caller",
}


def test_a_hits_country_is_the_one_that_cloudfront_finds(
    template: Any, client: Client, workers: Workers
) -> None:
    publisher = client.as_("pam", roles=["publisher"], sites=["blog"])
    assert publisher.put("/sites/blog/analytics").status == 200
    edge = Edge(template, client)
    beacon = b'{"site": "blog", "hits": [{"path": "/a"}]}'
    headers = {"Content-Type": "text/plain", **FORGED}

    edge.post("/hits", beacon, headers)
    edge.get("/hits/blog/pixel?path=/a", FORGED)
    # Past the patterns, and past CloudFront.
    edge.post("/%68its", beacon, headers)
    client.request("POST", "/hits", body=beacon, headers=headers)
    client.request("GET", "/hits/blog/pixel?path=/a", headers=FORGED)
    workers.drain()

    rows = publisher.get("/stats/blog?group=country&from=2026-03-01&to=2026-03-02").json["rows"]
    assert {row.get("country"): row["hits"] for row in rows} == {"DE": 2}
    totals = publisher.get("/stats/blog?from=2026-03-01&to=2026-03-02").json["rows"]
    assert sum(row["hits"] for row in totals) >= 4


@pytest.mark.parametrize(
    ("parameters", "hops"), [({}, ""), (ON, "1"), ({**ON, "TrustedHops": "2"}, "2")]
)
def test_the_callers_address_is_read_past_it(
    template: Any, parameters: dict[str, str], hops: str
) -> None:
    variables = template["Globals"]["Function"]["Environment"]["Variables"]

    assert deployed_with(template, variables["PLAZA_TRUSTED_HOPS"], **parameters) == hops


def test_a_domain_of_ones_own_comes_with_its_certificate(template: Any) -> None:
    own = {**ON, "CdnDomain": "plaza.example", "CdnCertificateArn": "arn:aws:acm:us-east-1:1:c/x"}
    parts = {name: config(template)[name] for name in ("Aliases", "ViewerCertificate")}
    plain, named = (deployed_with(template, parts, **each) for each in (ON, own))

    assert plain == {}
    assert named["Aliases"] == ["plaza.example"]
    assert named["ViewerCertificate"]["AcmCertificateArn"] == own["CdnCertificateArn"]
    for rule in ("DomainNeedsCertificate", "CertificateNeedsDomain"):
        assert {"CdnDomain", "CdnCertificateArn"} == {
            *re.findall(r"Cdn\w+", rule_text(template, rule))
        }


def rule_text(template: Any, rule: str) -> str:
    return json.dumps(template["Rules"][rule])
