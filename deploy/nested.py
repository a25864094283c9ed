"""Nested stacks: resources that nothing else refers to, in templates of their own.

Each reference to the main stack becomes a parameter, which the main stack passes.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deploy.intrinsics import attribute, reference

# The parameter for the main stack's name; a nested stack's own name has a random end.
_DEPLOYMENT = "Deployment"
_STACK_NAME = "AWS::StackName"


@dataclass(frozen=True)
class NestedStack:
    """A template by its file's name, and the values of its parameters in the main stack."""

    file: str
    template: dict[str, Any]
    values: dict[str, Any]

    def resource(self) -> dict[str, Any]:
        """Return the main stack's resource; `aws cloudformation package` uploads its file."""
        properties = {"TemplateURL": self.file, "Parameters": self.values}
        return {"Type": "AWS::CloudFormation::Stack", "Properties": properties}


def nested_stack(
    file: str,
    description: str,
    resources: dict[str, Any],
    parameters: Mapping[str, Any],
    conditions: Mapping[str, Any],
) -> NestedStack:
    """Return a stack of these resources; parameters and conditions are the main stack's."""
    values: dict[str, Any] = {}
    own = {name: _lift(each, values) for name, each in resources.items()}
    used = {name: _lift(conditions[name], values) for name in sorted(_conditions_of(own))}
    kinds = {
        name: parameters.get(value.get("Ref", ""), {}).get("Type", "String")
        for name, value in values.items()
    }
    template = {
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": description,
        "Parameters": {name: {"Type": kind} for name, kind in kinds.items()},
        "Conditions": used,
        "Resources": own,
    }
    return NestedStack(file, template, values)


def _lift(part: Any, values: dict[str, Any]) -> Any:
    """Return a part with its references replaced by parameters; add their values to `values`."""
    match part:
        case {"Ref": str(name)}:
            return reference(_noted(name, None, values))
        case {"Fn::GetAtt": [str(name), str(of)]}:
            return reference(_noted(name, of, values))
        case {"Fn::Sub": str(text)}:
            return {"Fn::Sub": re.sub(r"\${([\w:]+)(?:\.(\w+))?}", _lifted_by(values), text)}
        case dict():
            return {key: _lift(each, values) for key, each in part.items()}
        case list():
            return [_lift(each, values) for each in part]
    return part


def _lifted_by(values: dict[str, Any]) -> Any:
    return lambda found: f"${{{_noted(found[1], found[2], values)}}}"


def _noted(name: str, of: str | None, values: dict[str, Any]) -> str:
    """Return the name of a reference's parameter; add the parameter's value to `values`.

    AWS's pseudo parameters stay as they are, except the stack's name.
    """
    if name == _STACK_NAME:
        values[_DEPLOYMENT] = reference(_STACK_NAME)
        return _DEPLOYMENT
    if name.startswith("AWS::"):
        return name
    values[f"{name}{of or ''}"] = reference(name) if of is None else attribute(name, of)
    return f"{name}{of or ''}"


def _conditions_of(part: Any) -> set[str]:
    match part:
        case {"Fn::If": [str(name), *rest]}:
            return {name} | _conditions_of(rest)
        case dict():
            return set().union(*map(_conditions_of, part.values()))
        case list():
            return set().union(*map(_conditions_of, part))
    return set()
