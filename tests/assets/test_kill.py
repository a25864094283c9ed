"""Processes that upload are killed; when the sweep has run, every chunk has a file."""

import dataclasses
import random
import subprocess
import sys
import time
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from chalicelib.assets.jobs import run_due
from chalicelib.assets.shapes import ASSETS, CHUNKS, FILES, UPLOADS, WASTE
from chalicelib.runtime import Runtime, utc_now

pytestmark = pytest.mark.processes

WORKERS = 3
ROOT = Path(__file__).parents[2]


def kill_some_time_after_the_first_asset(uri: str, rng: random.Random) -> None:
    command = [sys.executable, "-m", "tests.assets.support.upload_worker", uri, "plaza-test"]
    workers = [
        subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
        for _ in range(WORKERS)
    ]
    try:
        for worker in workers:
            assert worker.stdout is not None
            assert worker.stdout.readline()
        for worker in workers:
            # Wherever it is then: what matters holds after any step.
            time.sleep(rng.uniform(0, 0.05))
            worker.kill()
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()


def _same(moment: datetime) -> datetime:
    return moment


def test_chunks_without_a_file_are_none_after_uploads_were_killed(
    runtime: Runtime, mongodb_uri: str
) -> None:
    rng, database = random.Random(3), runtime.database
    kill_some_time_after_the_first_asset(mongodb_uri, rng)
    for later in (timedelta(days=1, minutes=15), timedelta(days=1, minutes=31)):
        moment = utc_now() + later
        while sum(run_due(dataclasses.replace(runtime, now=partial(_same, moment))).values()):
            pass

    blobs = {each["blob"] for asset in ASSETS.of(database).find() for each in asset["versions"]}
    assert len(blobs) >= WORKERS
    assert set(CHUNKS.of(database).distinct("files_id")) == blobs
    assert set(FILES.of(database).distinct("_id")) == blobs
    assert UPLOADS.of(database).count_documents({}) == 0
    assert WASTE.of(database).count_documents({}) == 0
