"""CloudFront in front of the API, where a deployment chooses it: docs/decisions/0123.

Sources: "Use managed cache policies", "Use managed origin request policies" and "Control how long
CloudFront caches errors" in AWS's documentation.
"""

from typing import Any

from chalicelib.analytics.visitors.agents import COUNTRY_PROOF_HEADER
from deploy.intrinsics import filled, reference, when

# CloudFront adds it to each call, so that the API's web ACL knows a call that came this way.
PROOF_HEADER = "x-plaza-cdn"
# The unguessable end of the stack's id; only the account's own users can read it.
PROOF = {"Fn::Select": [2, {"Fn::Split": ["/", reference("AWS::StackId")]}]}
CACHING_DISABLED = "4135ea2d-6df8-44a3-9df3-4b5a84be39ad"
ALL_VIEWER_EXCEPT_HOST = "b689b0a8-53d0-40ab-baf2-68738e2966ac"
FILES = "/web/*"
# Calls whose country is counted.
HITS = ("/hits", "/hits/*")
LISTINGS = ("/nodes/*/comments", "/nodes/*/comments/*/thread", "/changes")
COUNTRY_HEADER = "CloudFront-Viewer-Country"
# The same API, where CloudFront has found the caller's country. On other paths a caller could send
# a country of their own.
_WITH_COUNTRY = "api-with-country"
_READS = ["GET", "HEAD", "OPTIONS"]
_ALL = [*_READS, "PUT", "POST", "PATCH", "DELETE"]
_ONE_YEAR_SECONDS = 31_536_000
# Listings vary by these headers, beside path and query. CloudFront ignores `Vary`.
_LISTINGS_VARY_BY = ["Accept", "Authorization", "Origin"]
# The errors whose caching CloudFront lets us end. By default, it caches them for ten seconds,
# whatever their Cache-Control says, even on paths without a cache: a caller's 404 reaches others.
_ERRORS = (400, 403, 404, 405, 414, 500, 501, 502, 503, 504)


def cdn_resources() -> dict[str, Any]:
    """Return the distribution and its policies, all of them under the condition `HasCdn`."""
    listings = {
        "Name": _name("listings"),
        "CookiesConfig": {"CookieBehavior": "none"},
        "HeadersConfig": {"HeaderBehavior": "allExcept", "Headers": ["Host"]},
        "QueryStringsConfig": {"QueryStringBehavior": "all"},
    }
    resources = {
        "Distribution": ("Distribution", {"DistributionConfig": _distribution()}),
        "CdnFiles": ("CachePolicy", {"CachePolicyConfig": _cache_policy("files", [], "none")}),
        "CdnListings": (
            "CachePolicy",
            {"CachePolicyConfig": _cache_policy("listings", _LISTINGS_VARY_BY, "all")},
        ),
        # Only a cache policy forwards this header without `Host`, with which API Gateway would
        # refuse the call. CloudFront stores no answer: answers to hits are `no-store`.
        "CdnHits": (
            "CachePolicy",
            {"CachePolicyConfig": _cache_policy("hits", [COUNTRY_HEADER], "all")},
        ),
        "CdnListingsCall": ("OriginRequestPolicy", {"OriginRequestPolicyConfig": listings}),
    }
    return {
        name: {"Type": f"AWS::CloudFront::{kind}", "Condition": "HasCdn", "Properties": properties}
        for name, (kind, properties) in resources.items()
    }


def only_by_the_cdn() -> dict[str, Any]:
    """Return a web ACL's statement for calls that bypass the distribution."""
    proof = {
        "FieldToMatch": {"SingleHeader": {"Name": PROOF_HEADER}},
        "PositionalConstraint": "EXACTLY",
        "SearchString": PROOF,
        "TextTransformations": [{"Priority": 0, "Type": "NONE"}],
    }
    return {"NotStatement": {"Statement": {"ByteMatchStatement": proof}}}


def _distribution() -> dict[str, Any]:
    files = _behavior(_READS, reference("CdnFiles"))
    call = reference("CdnListingsCall")
    listings = {**_behavior(_ALL, reference("CdnListings")), "OriginRequestPolicyId": call}
    whole = {"OriginRequestPolicyId": ALL_VIEWER_EXCEPT_HOST}
    others = {**_behavior(_ALL, CACHING_DISABLED), **whole}
    hits = {**_behavior(_ALL, reference("CdnHits")), **whole, "TargetOriginId": _WITH_COUNTRY}
    return {
        "Enabled": True,
        "Comment": filled("What stands before ${AWS::StackName}"),
        "HttpVersion": "http2and3",
        "IPV6Enabled": True,
        "Aliases": when("HasCdnDomain", [reference("CdnDomain")]),
        "ViewerCertificate": when("HasCdnDomain", _certificate()),
        "WebACLId": when("HasCdnWebAcl", reference("CdnWebAclArn")),
        "Origins": [
            _origin("api", PROOF_HEADER),
            _origin(_WITH_COUNTRY, PROOF_HEADER, COUNTRY_PROOF_HEADER),
        ],
        "DefaultCacheBehavior": others,
        "CacheBehaviors": [
            {**files, "PathPattern": FILES},
            *({**listings, "PathPattern": path} for path in LISTINGS),
            *({**hits, "PathPattern": path} for path in HITS),
        ],
        "CustomErrorResponses": [{"ErrorCode": code, "ErrorCachingMinTTL": 0} for code in _ERRORS],
    }


def _origin(name: str, *proofs: str) -> dict[str, Any]:
    """Return the API as an origin; CloudFront sets the headers `proofs`, whatever a caller sent."""
    host = "${RestAPI}.execute-api.${AWS::Region}.${AWS::URLSuffix}"
    return {
        "Id": name,
        "DomainName": filled(host),
        "OriginPath": filled("/${RestAPI.Stage}"),
        "CustomOriginConfig": {
            "OriginProtocolPolicy": "https-only",
            "OriginSSLProtocols": ["TLSv1.2"],
        },
        "OriginCustomHeaders": [{"HeaderName": each, "HeaderValue": PROOF} for each in proofs],
    }


def _behavior(methods: list[str], policy: Any) -> dict[str, Any]:
    return {
        "TargetOriginId": "api",
        "AllowedMethods": methods,
        "CachedMethods": ["GET", "HEAD"],
        "CachePolicyId": policy,
        "ViewerProtocolPolicy": "https-only",
        "Compress": True,
    }


def _cache_policy(name: str, headers: list[str], queries: str) -> dict[str, Any]:
    """Return a policy that caches an answer as long as its Cache-Control allows, up to a year.

    A MinTTL above 0 would cache even answers that are `private` or `no-store`.
    """
    listed = {"HeaderBehavior": "whitelist", "Headers": headers}
    return {
        "Name": _name(name),
        "MinTTL": 0,
        "DefaultTTL": 0,
        "MaxTTL": _ONE_YEAR_SECONDS,
        "ParametersInCacheKeyAndForwardedToOrigin": {
            "CookiesConfig": {"CookieBehavior": "none"},
            "HeadersConfig": listed if headers else {"HeaderBehavior": "none"},
            "QueryStringsConfig": {"QueryStringBehavior": queries},
            "EnableAcceptEncodingGzip": True,
            "EnableAcceptEncodingBrotli": True,
        },
    }


def _name(of: str) -> dict[str, Any]:
    # A policy's name is unique within an account, across all regions.
    return filled(f"${{AWS::StackName}}-${{AWS::Region}}-{of}")


def _certificate() -> dict[str, Any]:
    return {
        "AcmCertificateArn": reference("CdnCertificateArn"),
        "SslSupportMethod": "sni-only",
        "MinimumProtocolVersion": "TLSv1.2_2021",
    }
