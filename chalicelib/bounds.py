"""Bounds: how much one step, document or page holds; tests shrink them, deployments do not.

Each feature has a class of its own. A number that no test shrinks stays beside the code it bounds.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class CommentBounds:
    """The bounds of comments."""

    # Comments. A request moves a node of up to this many, within its time; a worker moves a larger.
    inline_move_comments: int = 1_000
    # Comments that one step of a removal deletes, so that no single write holds the server long.
    removal_step_comments: int = 1_000
    # Steps that one run of the schedule takes for removals; the next run goes on after them.
    removal_steps: int = 100
    # Comments that one step of a person's erasure deletes, each with its node's counts.
    erasure_step_comments: int = 500
    # Bytes of a comment's HTML: Markdown of few characters can make many times as many of HTML.
    html_bytes: int = 64 * 1024


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
