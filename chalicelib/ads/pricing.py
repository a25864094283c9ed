"""What an ad is worth to the publisher: its effective price of a thousand impressions."""

from chalicelib.database import Document

# A Beta(1, 199) prior: a click in 200 impressions, and as much weight as 200 impressions
# would have, about what display ads show before anything is known of one.
PRIOR_ALPHA = 1
PRIOR_BETA = 199


def ecpm_micros(pricing: Document, clicks: int = 0, impressions: int = 0) -> int:
    """Return the eCPM in whole micros: a CPM ad's bid, or CPC x CTR x 1000.

    The CTR is (clicks + a) / (impressions + a + b), the mean of the Beta posterior; an ad
    that was never shown stands at the prior's mean, so it neither starves nor jumps at one
    lucky click. Sources: "MongoDB Applied Design Patterns", ch. 7, for the eCPM; Gelman et
    al., "Bayesian Data Analysis", section 2.4, for the posterior.
    """
    bid: int = pricing["bid_micros"]
    if pricing["type"] == "cpm":
        return bid
    return bid * 1_000 * (clicks + PRIOR_ALPHA) // (impressions + PRIOR_ALPHA + PRIOR_BETA)
