"""A made-up town: how many follow whom, by a power law, and what its feeds cost by each design.

Follower counts are Pareto's; the exponent of the tail lies within the 2 to 3 that Clauset,
Shalizi and Newman ("Power-law distributions in empirical data", SIAM Review 51, 2009) report
for most counts of this kind.
"""

import bisect
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass

AUTHORS = 200_000
TAIL = 2.2
SMALLEST, LARGEST = 20, 5_000_000


@dataclass(frozen=True)
class FeedCosts:
    """Milliseconds, fitted to measured figures: of delivering a post, and of reading a page.

    A push costs `push_ms` and `push_each_ms` for each follower; a page `page_ms`, and where it
    meets authors above the line `above_ms` and `above_each_ms` for each of them; a page by pull
    `pull_ms` and `pull_each_ms` for each author followed.
    """

    push_ms: float
    push_each_ms: float
    page_ms: float
    above_ms: float
    above_each_ms: float
    pull_ms: float
    pull_each_ms: float


class Town:
    """The authors of a network with their followers, the same at every run."""

    def __init__(self, authors: int = AUTHORS, tail: float = TAIL) -> None:
        rng = random.Random(11)  # noqa: S311 - the same town every time
        counts = (int(SMALLEST * rng.paretovariate(tail - 1)) for _ in range(authors))
        self.followers = sorted(min(count, LARGEST) for count in counts)
        self._sums = [0, *itertools.accumulate(self.followers)]

    @property
    def ties(self) -> int:
        """Return how many pairs there are of a follower and a followed."""
        return self._sums[-1]

    @property
    def followed(self) -> float:
        """Return how many authors a reader follows, if readers and authors are equally many."""
        return self.ties / len(self.followers)

    def below(self, line: float) -> tuple[int, int]:
        """Return the number of authors with at most this number of followers, and their ties."""
        authors = bisect.bisect_right(self.followers, line)
        return authors, self._sums[authors]

    def hybrid_ms(self, line: float, posts: float, pages: float, costs: FeedCosts) -> float:
        """Return the milliseconds of work in a day, at these rates of posts and pages.

        Authors with more followers than `line` are not pushed; at infinity this is push alone.
        """
        pushed, ties = self.below(line)
        writing = posts * (pushed * costs.push_ms + ties * costs.push_each_ms)
        share = 1 - ties / self.ties
        meets_any: float = 1 - (1 - share) ** self.followed
        above = self.followed * share
        page = costs.page_ms + meets_any * costs.above_ms + above * costs.above_each_ms
        return writing + pages * len(self.followers) * page

    def pull_ms(self, pages: float, costs: FeedCosts) -> float:
        """Return a day's work if nothing is pushed and everything is looked up at reading."""
        each = costs.pull_ms + self.followed * costs.pull_each_ms
        return pages * len(self.followers) * each


def fitted(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return intercept and slope of the line through measured points, weighed by relative error.

    Least squares with weights 1/y^2: a large size may not decide alone about what a small
    one costs. Neither may be below zero.
    """
    weights = [1 / y**2 for _, y in points]
    total = sum(weights)
    x_mean = sum(w * x for w, (x, _) in zip(weights, points, strict=True)) / total
    y_mean = sum(w * y for w, (_, y) in zip(weights, points, strict=True)) / total
    pairs = list(zip(weights, points, strict=True))
    spread = sum(w * (x - x_mean) ** 2 for w, (x, _) in pairs)
    slope = sum(w * (x - x_mean) * (y - y_mean) for w, (x, y) in pairs) / spread
    slope = max(slope, 0.0)
    return max(y_mean - slope * x_mean, 0.0), slope
