"""An ad's worth to the publisher: the effective price of a thousand impressions (eCPM)."""

from collections.abc import Collection
from typing import NamedTuple

from chalicelib.ads.inventory.campaigns import StoredPricing


class ClickCounts(NamedTuple):
    """The impressions and clicks of an ad in a zone."""

    impressions: int = 0
    clicks: int = 0


class Prior(NamedTuple):
    """A Beta distribution of click-through rates in a zone; its mean is alpha / (alpha + beta)."""

    alpha: float
    beta: float


# A click in 200 impressions, with the weight of 200 impressions: about the rate of display ads
# in a zone without counts.
DEFAULT_PRIOR = Prior(1.0, 199.0)
NO_COUNTS = ClickCounts()
# Fewer ads or impressions reveal too little of the differences between a zone's ads.
MIN_FIT_ADS = 5
MIN_FIT_IMPRESSIONS = 1_000
# In impressions. Under a lighter prior one click moves an ad far up; a heavier prior starves ads.
MIN_WEIGHT, MAX_WEIGHT = 50.0, 20_000.0


def ecpm_micros(
    pricing: StoredPricing, counts: ClickCounts = NO_COUNTS, prior: Prior = DEFAULT_PRIOR
) -> int:
    """Return the eCPM in whole micros: a CPM ad's bid, or CPC x CTR x 1000.

    The CTR is (clicks + a) / (impressions + a + b), the mean of the Beta posterior. An ad
    without impressions has the prior's mean, so it neither starves nor rises far at one lucky
    click. Clicks beyond the number of impressions do not count. Sources: "MongoDB Applied Design
    Patterns", ch. 7, for the eCPM; Gelman et al., "Bayesian Data Analysis", section 2.4, for
    the posterior.
    """
    bid = pricing["bid_micros"]
    if pricing["type"] == "cpm":
        return bid
    # A click may come without its impression; a rate beyond 1 would outgrow a stored number.
    clicks = min(counts.clicks, counts.impressions)
    seen = counts.impressions + prior.alpha + prior.beta
    return int(bid * 1_000 * (clicks + prior.alpha) / seen)


def fit_prior(counts: Collection[ClickCounts]) -> Prior:
    """Return the Beta prior of a zone, fitted to its ads' counts by the method of moments.

    Of k ads, each has n impressions and rate r; N is the sum of n, and p the mean rate.
        spread S = sum n (r - p)^2
        correlation c = (S / (p (1 - p)) - (k - 1)) / (N - sum n^2 / N - (k - 1))
        weight a + b = 1 / c - 1 impressions, from MIN_WEIGHT to MAX_WEIGHT
    If c <= 0, the rates differ no more than by chance: MAX_WEIGHT. Too few ads or impressions, no
    click, or only clicks: DEFAULT_PRIOR. Source: J. C. Kleinman, "Proportions with Extraneous
    Variance", JASA 68 (1973), with weights n.
    """
    shown = [each for each in counts if each.impressions > 0]
    impressions = sum(each.impressions for each in shown)
    clicks = sum(min(each.clicks, each.impressions) for each in shown)
    if len(shown) < MIN_FIT_ADS or impressions < MIN_FIT_IMPRESSIONS:
        return DEFAULT_PRIOR
    if not 0 < clicks < impressions:
        return DEFAULT_PRIOR
    mean = clicks / impressions
    weight = min(max(_prior_weight(shown, mean), MIN_WEIGHT), MAX_WEIGHT)
    return Prior(round(mean * weight, 6), round((1 - mean) * weight, 6))


def _prior_weight(shown: Collection[ClickCounts], mean: float) -> float:
    """Return the a + b that the spread of the rates implies."""
    total = sum(each.impressions for each in shown)
    spread = sum(
        each.impressions * (min(each.clicks / each.impressions, 1.0) - mean) ** 2 for each in shown
    )
    by_chance = len(shown) - 1
    room = total - sum(each.impressions**2 for each in shown) / total - by_chance
    if room <= 0:
        return MAX_WEIGHT
    correlation = (spread / (mean * (1 - mean)) - by_chance) / room
    # Correlation <= 0: the rates differ no more than by chance.
    return 1 / correlation - 1 if correlation > 0 else MAX_WEIGHT
