"""Patterns of parameters: CloudFormation refuses values that no function would start with.

The patterns come from the settings' own bounds. Without them, an update with a wrong value would
succeed, and every function would fail.
"""

from typing import Any

from chalicelib.settings import Settings

_SETTINGS: dict[str, Any] = Settings.model_json_schema()["properties"]
# The checks of the settings' types beyond their schema.
_OWN = {
    "database": "(?!(admin|config|local)$)[A-Za-z0-9_-]{1,38}",
    "limits": r"off|(?=.*[1-9])([0-9]{1,3}(\.[0-9]+)?|\.[0-9]+|1000(\.0+)?)",
}


def constraint(field: str) -> dict[str, str]:
    """Return the constraints of a setting's parameter; empty for a setting that takes any text."""
    schema = _SETTINGS[field]
    if field in _OWN:
        return _optional(_OWN[field])
    if "pattern" in schema:
        return _optional(schema["pattern"].removeprefix("^").removesuffix("$"))
    if schema.get("type") == "boolean":
        told = {"ConstraintDescription": "true or false, or empty"}
        return {**_optional("(?i:true|false|1|0|yes|no|y|n|t|f|on|off)"), **told}
    if schema.get("type") == "integer":
        least, most = schema["minimum"], schema["maximum"]
        told = {"ConstraintDescription": f"a whole number from {least} to {most}, or empty"}
        return {**_optional("|".join(_whole_numbers(least, most))), **told}
    return {}


def _optional(pattern: str) -> dict[str, str]:
    return {"AllowedPattern": f"({pattern})?"}


def _whole_numbers(least: int, most: int) -> list[str]:
    """Return patterns of the whole numbers from `least` to `most`, without leading zeros."""
    found = []
    for length in range(len(str(least)), len(str(most)) + 1):
        low = max(least, 10 ** (length - 1) if length > 1 else 0)
        found += _of_one_length(str(low), str(min(most, 10**length - 1)))
    return found


def _of_one_length(low: str, high: str) -> list[str]:
    rest = len(low) - 1
    zeros, nines = "0" * rest, "9" * rest
    if not rest:
        return [f"[{low}-{high}]"]
    if low[0] == high[0] and (low[1:], high[1:]) != (zeros, nines):
        return [low[0] + each for each in _of_one_length(low[1:], high[1:])]
    first, last = int(low[0]), int(high[0])
    before = after = []
    if low[1:] != zeros:
        before = [low[0] + each for each in _of_one_length(low[1:], nines)]
        first += 1
    if high[1:] != nines:
        after = [high[0] + each for each in _of_one_length(zeros, high[1:])]
        last -= 1
    between = [f"[{first}-{last}][0-9]{{{rest}}}"] if first <= last else []
    return [*before, *between, *after]
