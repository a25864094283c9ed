"""The web ACL in front of the API: the operator's, or the stack's, which limits each address.

Behind CloudFront, all calls come from a few addresses, so no address has a limit. There the stack's
web ACL blocks calls that bypass CloudFront.
"""

import json
from typing import Any

from deploy.cdn import only_by_the_cdn
from deploy.intrinsics import attribute, filled, reference, when

_WINDOW_SECONDS = 300
_BODY = "too-many-requests"
_PROBLEM = {
    "type": "urn:plaza:problem:throttled",
    "title": "Too many requests; slow down",
    "status": 429,
    "code": "throttled",
}


def firewall(cors: dict[str, Any]) -> dict[str, Any]:
    """Return the stack's web ACL, and the API's link to it or to the operator's.

    The headers `cors` let a page read the answer of the web ACL.
    """
    return {
        "WebAcl": {
            "Type": "AWS::WAFv2::WebACL",
            "Condition": "MakesWebAcl",
            "Properties": {
                "Description": filled("What calls of ${AWS::StackName} pass before anything runs"),
                "Scope": "REGIONAL",
                "DefaultAction": {"Allow": {}},
                "VisibilityConfig": _counted("web-acl"),
                "CustomResponseBodies": {
                    _BODY: {"ContentType": "APPLICATION_JSON", "Content": json.dumps(_PROBLEM)}
                },
                "Rules": [when("HasCdn", _by_the_cdn_alone(), _rate_of_an_address(cors))],
            },
        },
        "WebAclAssociation": {
            "Type": "AWS::WAFv2::WebACLAssociation",
            "Condition": "HasWebAcl",
            "Properties": {
                "WebACLArn": when("MakesWebAcl", attribute("WebAcl"), reference("WebAclArn")),
                "ResourceArn": filled(
                    "arn:${AWS::Partition}:apigateway:${AWS::Region}::"
                    "/restapis/${RestAPI}/stages/${RestAPI.Stage}"
                ),
            },
        },
    }


def _rate_of_an_address(cors: dict[str, Any]) -> dict[str, Any]:
    headers = {"Retry-After": str(_WINDOW_SECONDS), **cors}
    answer = {
        "ResponseCode": _PROBLEM["status"],
        "CustomResponseBodyKey": _BODY,
        "ResponseHeaders": [_header(name, value) for name, value in headers.items()],
    }
    rate = {
        "Limit": reference("AddressRateLimit"),
        "AggregateKeyType": "IP",
        "EvaluationWindowSec": _WINDOW_SECONDS,
    }
    return {
        "Name": "rate-of-an-address",
        "Priority": 0,
        "Action": {"Block": {"CustomResponse": answer}},
        "Statement": {"RateBasedStatement": rate},
        "VisibilityConfig": _counted("rate-of-an-address"),
    }


def _by_the_cdn_alone() -> dict[str, Any]:
    return {
        "Name": "by-the-cdn-alone",
        "Priority": 0,
        # The gateway answers as it does to any call that a web ACL refuses: WAF_FILTERED.
        "Action": {"Block": {}},
        "Statement": only_by_the_cdn(),
        "VisibilityConfig": _counted("by-the-cdn-alone"),
    }


def _header(name: str, value: Any) -> Any:
    """Return a header, or nothing if a condition leaves its value out."""
    match value:
        case {"Fn::If": [condition, given, {"Ref": "AWS::NoValue"}]}:
            return when(condition, {"Name": name, "Value": given})
    return {"Name": name, "Value": value}


def _counted(name: str) -> dict[str, Any]:
    """Return the setting that counts calls, without samples: they contain addresses and tokens."""
    return {
        "CloudWatchMetricsEnabled": True,
        "MetricName": filled(f"${{AWS::StackName}}-{name}"),
        "SampledRequestsEnabled": False,
    }
