"""Bounds: how much one step, document or page holds; tests shrink them, deployments do not.

Each feature has a class of its own. A number that no test shrinks stays beside the code it bounds.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CommentBounds:
    """The bounds of comments."""


@dataclass(frozen=True)
class AdBounds:
    """The bounds of ads."""


@dataclass(frozen=True)
class SocialBounds:
    """The bounds of the social feed."""


@dataclass(frozen=True)
class Bounds:
    """The bounds of every feature."""

    comments: CommentBounds = field(default_factory=CommentBounds)
    ads: AdBounds = field(default_factory=AdBounds)
    social: SocialBounds = field(default_factory=SocialBounds)


BOUNDS = Bounds()
