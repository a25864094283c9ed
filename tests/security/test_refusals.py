"""A call that is refused leaves the database as it was."""

import pytest

from chalicelib.runtime import Runtime
from tests.security.support.matrix import FEATURES
from tests.security.support.row import expected_of
from tests.security.support.world import World, build
from tests.security.test_access_matrix import call, target_of
from tests.support.http_client import Client
from tests.support.workers import Workers

# One caller of each kind of refusal is enough: the matrix has them all.
REFUSED = (401, 403, 404)


@pytest.fixture
def world(client: Client, runtime: Runtime, workers: Workers) -> World:
    return build(client, runtime, workers)


def digest(runtime: Runtime) -> dict[str, str]:
    """Return the server's own hash of every collection."""
    hashes: dict[str, str] = runtime.database.command("dbHash")["collections"]
    return hashes


@pytest.mark.parametrize("feature", FEATURES)
def test_a_refused_write_changes_nothing(feature: str, world: World, runtime: Runtime) -> None:
    changed: dict[str, list[str]] = {}
    for row in FEATURES[feature]:
        if row.call.startswith("GET "):
            continue
        expected = expected_of(row)
        for status in REFUSED:
            callers = [caller for caller, wanted in expected.items() if wanted == status]
            if not callers:
                continue
            target = target_of(world, row)
            before = digest(runtime)
            assert call(world, row, world.as_(callers[0]), target).status == status, row
            after = digest(runtime)
            different = [name for name in after if after[name] != before.get(name)]
            if different:
                changed[f"{row} as {callers[0]}"] = different

    assert changed == {}
