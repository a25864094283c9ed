"""CloudFormation's intrinsic functions, as the template needs them."""

from typing import Any

NO_VALUE = {"Ref": "AWS::NoValue"}


def reference(name: str) -> dict[str, Any]:
    """Return a parameter's value, or a resource's own name."""
    return {"Ref": name}


def attribute(resource: str, name: str = "Arn") -> dict[str, Any]:
    """Return a resource's attribute."""
    return {"Fn::GetAtt": [resource, name]}


def filled(text: str) -> dict[str, Any]:
    """Return a text with its `${Name}` filled in."""
    return {"Fn::Sub": text}


def when(condition: str, value: Any, otherwise: Any = NO_VALUE) -> dict[str, Any]:
    """Return a value where a condition holds, else `otherwise`: no property by default."""
    return {"Fn::If": [condition, value, otherwise]}


def first_of(list_: Any) -> dict[str, Any]:
    """Return the first part of a comma-separated text."""
    return {"Fn::Select": [0, {"Fn::Split": [",", list_]}]}
