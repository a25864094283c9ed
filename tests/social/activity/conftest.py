"""An office with its people."""

import pytest

from chalicelib.runtime import Runtime
from tests.conftest import Clock, Workers
from tests.http_client import Client
from tests.social.activity.office import Office


@pytest.fixture
def office(client: Client, workers: Workers, runtime: Runtime, clock: Clock) -> Office:
    """Ann and Bob in one team, Cy in another of the same department, Dan in none of these."""
    office = Office(client, workers, runtime, clock)
    office.place("ann", "bob", team="hiring", department="people")
    office.place("cy", team="payroll", department="people")
    office.place("dan", team="web", department="product")
    workers.drain()
    return office
