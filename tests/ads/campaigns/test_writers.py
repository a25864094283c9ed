"""8 writers, 50 campaigns, 20 zones: afterwards every zone is what the campaigns say."""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

from chalicelib.ads.campaigns import lifecycle
from chalicelib.errors import Problem, Unavailable
from chalicelib.runtime import Runtime
from tests.ads.support.factories import (
    activate,
    add_zones,
    assert_zones_agree,
    cpm,
    put_campaign,
    zone,
)

WRITERS = 8
ROUND_SECONDS = 0.1
SECONDS = float(os.environ.get("PLAZA_TEST_WRITERS_SECONDS", "1.5"))
ZONES = [f"blog/zone-{number}" for number in range(20)]
CAMPAIGNS = [f"advertiser-{number % 7}:campaign-{number}" for number in range(50)]


def targets(campaign_id: str) -> list[str]:
    """A campaign's zones, the same at each time it is put."""
    return random.Random(campaign_id).sample(ZONES, 6)


def change(runtime: Runtime, rng: random.Random) -> None:
    campaign_id = rng.choice(CAMPAIGNS)
    match rng.randrange(3):
        case 0:
            activate(runtime, campaign_id)
        case 1:
            lifecycle.deactivate(runtime.database, campaign_id)
        case _:
            bid = cpm(rng.randint(1, 9) * 1_000)
            put_campaign(runtime, campaign_id, *targets(campaign_id), pricing=bid)


def test_every_zone_equals_the_campaigns_after_many_changes_at_once(runtime: Runtime) -> None:
    add_zones(runtime, *ZONES)
    for campaign_id in CAMPAIGNS:
        put_campaign(runtime, campaign_id, *targets(campaign_id))
    refused: list[Problem] = []

    def write(seed: int, until: float) -> int:
        rng, done = random.Random(seed), 0
        while time.monotonic() < until:
            try:
                change(runtime, rng)
            except Unavailable as problem:
                refused.append(problem)
            done += 1
        return done

    changes = 0
    with ThreadPoolExecutor(WRITERS) as pool:
        # The zones are compared after each of many short races: a later change would repair them.
        for number in range(int(SECONDS / ROUND_SECONDS)):
            seeds = range(number * WRITERS, (number + 1) * WRITERS)
            until = time.monotonic() + ROUND_SECONDS
            changes += sum(pool.map(write, seeds, [until] * WRITERS))
            assert_zones_agree(runtime, *ZONES)

    assert refused == []
    assert changes > WRITERS * SECONDS
    assert sum(zone(runtime, name)["version"] for name in ZONES) > changes
