"""Each part of the bench begins: its data are stored, its calls answered, its floors asked."""

import os
import subprocess

import pytest

from bench.__main__ import PARTS, PIECES
from deploy.declared import ROOT

pytestmark = pytest.mark.processes
# A database for each case takes a minute; `script/test --long` calls these too.
LONG = () if os.environ.get("PLAZA_TEST_EVERY_STEP") else ("social",)
CALLED = [part for part in (*PARTS, *PIECES) if part not in LONG]


@pytest.mark.parametrize("part", CALLED)
def test_every_call_of_a_part_succeeds_on_data_that_a_deployment_would_store(part: str) -> None:
    done = subprocess.run(
        [ROOT / "script" / "bench", "--once", part],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr[-4_000:]
    told, _, calls = done.stdout.strip().splitlines()[-1].partition(": ")
    assert told == part
    assert int(calls.split()[0]) >= int(calls.split()[2]) > 0
