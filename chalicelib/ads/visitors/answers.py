"""The form in which the API names a visitor."""

from typing import Annotated

from pydantic import Field
from typing_extensions import TypedDict

from chalicelib.ads.visitors.visitor_ids import VisitorValue


class VisitorAnswer(TypedDict):
    """A visitor that a page may name."""

    visitor: Annotated[
        VisitorValue,
        Field(
            description="A signed value; keep it between the site's server and the visitor's "
            "browser, since it stands for the visitor."
        ),
    ]
