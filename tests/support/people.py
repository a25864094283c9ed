"""A person renamed, erased and counted in all features, as the jobs do it."""

from chalicelib.people import jobs
from chalicelib.runtime import Runtime
from chalicelib.wiring.people import PEOPLE


def rename(runtime: Runtime, user_id: str) -> None:
    jobs.rename(runtime, PEOPLE, user_id)


def erase(runtime: Runtime, user_id: str) -> None:
    jobs.erase(runtime, PEOPLE, user_id)


def remaining(runtime: Runtime, user_id: str) -> int:
    return jobs.count_remaining(runtime.database, PEOPLE, user_id)
