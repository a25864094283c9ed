"""8 writers, 50 campaigns, 20 zones: afterwards every zone is what the campaigns say."""

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor

from chalicelib.ads import campaigns
from chalicelib.errors import Problem, Unavailable
from chalicelib.runtime import Runtime
from tests.ads.inventory import activate, add_zones, assert_zones_agree, cpm, put_campaign, zone

WRITERS = 8
SECONDS = float(os.environ.get("PLAZA_TEST_WRITERS_SECONDS", "3"))
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
            campaigns.deactivate(runtime.database, campaign_id)
        case _:
            bid = cpm(rng.randint(1, 9) * 1_000)
            put_campaign(runtime, campaign_id, *targets(campaign_id), pricing=bid)


def test_every_zone_equals_the_campaigns_after_many_changes_at_once(runtime: Runtime) -> None:
    add_zones(runtime, *ZONES)
    for campaign_id in CAMPAIGNS:
        put_campaign(runtime, campaign_id, *targets(campaign_id))
    until = time.monotonic() + SECONDS

    def write(number: int) -> tuple[int, list[Problem]]:
        rng, done = random.Random(number), 0
        refused: list[Problem] = []
        while time.monotonic() < until:
            try:
                change(runtime, rng)
                done += 1
            except Unavailable as problem:
                refused.append(problem)
        return done, refused

    with ThreadPoolExecutor(WRITERS) as pool:
        results = list(pool.map(write, range(WRITERS)))

    changes = sum(done for done, _ in results)
    assert [problem for _, problems in results for problem in problems] == []
    assert changes > WRITERS * SECONDS
    assert sum(zone(runtime, name)["version"] for name in ZONES) > changes
    assert_zones_agree(runtime, *ZONES)
