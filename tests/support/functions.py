"""The functions that Lambda loads by a reference."""

from collections.abc import Iterator

from chalicelib.jobs.functions import Deferred
from chalicelib.wiring import functions


def deferred() -> Iterator[Deferred]:
    """Yield what every function calls; all of it is imported late."""
    calls = [worker.handle for worker in functions.WORKERS]
    jobs = [job.run for declared in functions.SCHEDULES.values() for job in declared]
    for call in (*calls, *jobs, functions.COMMANDS):
        assert isinstance(call, Deferred), "import it late, for the other functions' starts"
        yield call
