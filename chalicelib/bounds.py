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

    # Ads of compiled zones that a container keeps, 2 kB each and 9 kB at the largest: with the
    # creatives at most half of the function's 512 MB.
    held_ads: int = 25_000
    # Documents over which the counts of one place and period are shared out, so that workers do
    # not wait for each other.
    report_shards: int = 8
    # Rows of a report as one CSV file: 3 MB, and Lambda answers with at most 6.
    csv_rows: int = 20_000
    # Settlements that one run of the schedule pays.
    paid_settlements: int = 1_000
    # Flights that one run of the schedule ends.
    ended_flights: int = 500


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
