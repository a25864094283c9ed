"""What the tests ask a template: a resource's properties, and what its conditions make of them."""

from typing import Any

from moto.cloudformation.parsing import ResourceMap, clean_json


def properties(template: Any, resource: str) -> Any:
    return template["Resources"][resource]["Properties"]


def deployed_with(template: Any, value: Any, **parameters: str) -> Any:
    """Return a part of the template as CloudFormation fills it in, by moto's reading of it."""
    alone = {**template, "Resources": {}}
    stack = "arn:aws:cloudformation:eu-central-1:123456789012:stack/plaza/of-this-stack-alone"
    known = ResourceMap(stack, "plaza", parameters, {}, "eu-central-1", "123456789012", alone, {})
    known.load_parameters()
    known.load_conditions()
    return clean_json(value, known)


def condition(template: Any, name: str, **parameters: str) -> bool:
    """Return whether a condition of the template holds with these parameters."""
    return bool(deployed_with(template, {"Fn::If": [name, "yes", ""]}, **parameters))


def attribute_of(resource: str) -> dict[str, list[str]]:
    return {"Fn::GetAtt": [resource, "Arn"]}
