"""The request body by which a site names a member."""

from pydantic import (
    Field,
)

from chalicelib.http import Input


class Member(Input):
    """The body of `POST /sites/{site}/visitors`: what the site calls somebody."""

    name: str = Field(min_length=1, max_length=200)
