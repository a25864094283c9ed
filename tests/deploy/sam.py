"""What CloudFormation makes of a SAM template before it deploys it."""

from typing import Any

from samtranslator.translator.transform import transform  # type: ignore[import-untyped]

BUCKET = "plaza-packages"
KEY = "deployment.zip"


class _NoManagedPolicies:
    """The template names policies by their ARNs, so none has to be looked up."""

    def load(self) -> dict[str, str]:
        return {}


def translated(template: Any) -> dict[str, Any]:
    """Return a template as plain CloudFormation, its package in the bucket.

    The translator is the one that AWS runs; it needs a region in the environment.
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
    plain: dict[str, Any] = transform(template, {}, _NoManagedPolicies())
    return plain
