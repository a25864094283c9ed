"""The designs of walls, news and graph that every contract suite runs over."""

from dataclasses import dataclass
from typing import Literal

import pytest
from _pytest.mark import ParameterSet

from chalicelib.settings import Settings
from chalicelib.social.timelines.view import NewsDesign


@dataclass(frozen=True)
class Design:
    """One choice of each; `pull_audience` is how many readers a post is delivered to at most."""

    wall: Literal["copies", "posts"]
    news: NewsDesign
    pull_audience: int = 10_000
    embedded_max: int = 1_000

    def __str__(self) -> str:
        return f"{self.wall}-{self.news}-{self.pull_audience}-{self.embedded_max}"

    def of(self, settings: Settings) -> Settings:
        """Return settings with this design."""
        chosen = {"wall": self.wall, "news": self.news, "pull_audience": self.pull_audience}
        return settings.model_copy(update=chosen)

    def param(self) -> ParameterSet:
        """Return the parameter of a fixture, with the bound that chooses the graph's store."""
        bound = pytest.mark.bounds(social={"embedded_max": self.embedded_max})
        return pytest.param(self, marks=bound, id=str(self))


DESIGNS = (
    Design("copies", "references"),
    Design("posts", "pull", embedded_max=0),
    Design("copies", "copies", embedded_max=2),
    # Some posts are delivered to their readers and others are pulled.
    Design("copies", "references", pull_audience=1),
    Design("posts", "copies", pull_audience=1, embedded_max=0),
)
