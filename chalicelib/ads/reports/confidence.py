"""How sure a click-through rate is."""

import math
from typing import NamedTuple

# The normal distribution's 97.5th percentile: 95% lie within it on both sides.
Z_95 = 1.959963984540054


class Interval(NamedTuple):
    """A range of rates, both ends within 0 and 1."""

    low: float
    high: float


def wilson_interval(successes: int, trials: int) -> Interval | None:
    """Return the 95% score interval of a rate, or None where nothing was tried.

    More successes than trials (clicks that came before their impressions) count as all. Source:
    E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
    JASA 22 (1927).
    """
    if trials == 0:
        return None
    rate = min(successes / trials, 1.0)
    spread = Z_95**2 / trials
    centre = (rate + spread / 2) / (1 + spread)
    reach = math.sqrt(rate * (1 - rate) * spread + spread**2 / 4) / (1 + spread)
    return Interval(max(centre - reach, 0.0), min(centre + reach, 1.0))
