"""What CloudFormation makes of a SAM template before it deploys it."""

from types import SimpleNamespace
from typing import Any
from unittest import mock

from samtranslator.model import apigateway  # type: ignore[import-untyped]
from samtranslator.translator.transform import transform  # type: ignore[import-untyped]

BUCKET = "plaza-packages"
KEY = "deployment.zip"


class _NoManagedPolicies:
    """The template names policies by their ARNs, so none has to be looked up."""

    def load(self) -> dict[str, str]:
        return {}


def translated(template: Any, seconds: float = 0) -> dict[str, Any]:
    """Return a template as plain CloudFormation, its package in the bucket.

    AWS runs this translator, too; it needs a region in the environment. It names the API's
    deployment by the time of its run, which is `seconds`.
    """
    functions = [
        resource["Properties"]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Serverless::Function"
    ]
    for function in functions:
        # As `aws cloudformation package` rewrites it.
        function["CodeUri"] = f"s3://{BUCKET}/{KEY}"
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::CloudFormation::Stack":
            file = resource["Properties"]["TemplateURL"]
            resource["Properties"]["TemplateURL"] = f"https://s3.amazonaws.com/{BUCKET}/{file}"
    with mock.patch.object(apigateway, "time", SimpleNamespace(time=lambda: seconds)):
        plain: dict[str, Any] = transform(template, {}, _NoManagedPolicies())
    return plain
