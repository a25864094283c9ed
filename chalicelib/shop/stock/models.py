"""Requests about stock."""

from typing import Annotated, Self

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from chalicelib.http import Input
from chalicelib.shop.ids import SkuId
from chalicelib.texts import Line

MAX_UNITS = 1_000_000
MAX_SHOWN = 100

MovementKey = Annotated[
    str,
    StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$"),
    Field(description="Names the movement: a repeated call with it changes nothing."),
]


class StockChange(Input):
    """Units that come in or go, or what a count has found."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"change": 12, "key": "delivery-2026-03-01"}]}
    )

    change: int | None = Field(
        None, ge=-MAX_UNITS, le=MAX_UNITS, description="By how many units; negative for a loss."
    )
    counted: int | None = Field(
        None,
        ge=0,
        le=MAX_UNITS,
        description="How many there are, with those that carts and orders hold.",
    )
    key: MovementKey
    reason: Line | None = Field(None, description="Why, for whoever looks at it later.")

    @model_validator(mode="after")
    def _says_one(self) -> Self:
        if (self.change is None) == (self.counted is None):
            raise ValueError("either change or counted is needed")
        return self


_SKUS = f"^[A-Za-z0-9_-]{{1,64}}(,[A-Za-z0-9_-]{{1,64}}){{0,{MAX_SHOWN - 1}}}$"


def _split(value: object) -> object:
    return value.split(",") if isinstance(value, str) else value


class StockQuery(Input):
    """Which SKUs' stock is asked for."""

    skus: Annotated[
        list[SkuId],
        Field(min_length=1, max_length=MAX_SHOWN),
        BeforeValidator(_split, json_schema_input_type=Annotated[str, Field(pattern=_SKUS)]),
    ] = Field(description="SKUs, separated by commas, at most 100.")
