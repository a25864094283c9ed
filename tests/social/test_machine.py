"""Whatever a few users do, every view shows what the rules grant, and nothing else."""

import os

import pytest
from hypothesis import HealthCheck, Phase
from hypothesis import settings as profile
from hypothesis.stateful import run_state_machine_as_test

from chalicelib.settings import Settings
from tests.social.designs import Design
from tests.social.life import Life
from tests.social.meantime import Meantime
from tests.social.people import Town

# A long run: PLAZA_EXAMPLES=500 pytest tests/social/test_machine.py
EXAMPLES = int(os.environ.get("PLAZA_EXAMPLES", "5"))


@pytest.fixture
def settings(settings: Settings, design: Design) -> Settings:
    return design.of(settings)


def test_every_view_grants_what_the_rules_grant(watched: Town, meantime: Meantime) -> None:
    meantime_ = meantime

    class Machine(Life):
        town, meantime = watched, meantime_

    run_state_machine_as_test(
        Machine,
        settings=profile(
            max_examples=EXAMPLES,
            # A failure is printed as its steps; making them fewer takes minutes.
            phases=[Phase.generate],
            stateful_step_count=25,
            deadline=None,
            derandomize="PLAZA_EXAMPLES" not in os.environ,
            suppress_health_check=list(HealthCheck),
        ),
    )
