import threading

import pytest
from chalice.app import Chalice, Cron, Rate

from local.failures import StartupFailure
from local.schedules import declared_schedules, run_schedules, scheduled_event

pytestmark = pytest.mark.processes


def test_rates_are_read_from_the_app() -> None:
    app = Chalice("plaza", configure_logs=False)
    app.schedule(Rate(1, unit=Rate.MINUTES), name="often")(lambda _event: None)
    app.schedule("rate(2 hours)", name="seldom")(lambda _event: None)

    assert {each.name: each.every_seconds for each in declared_schedules(app)} == {
        "often": 60,
        "seldom": 7_200,
    }


def test_a_schedule_that_cannot_run_here_is_named() -> None:
    app = Chalice("plaza", configure_logs=False)
    app.schedule(Cron(0, 3, "*", "*", "?", "*"), name="nightly")(lambda _event: None)

    with pytest.raises(StartupFailure, match=r"cron\(0 3"):
        declared_schedules(app)


def test_each_runs_at_the_start_and_one_that_fails_stops_no_other() -> None:
    app = Chalice("plaza", configure_logs=False)
    stop = threading.Event()
    ran: list[str] = []

    def fail(_event: object) -> None:
        ran.append("fails")
        raise ZeroDivisionError

    def last(_event: object) -> None:
        ran.append("works")
        stop.set()

    app.schedule(Rate(1, unit=Rate.MINUTES), name="fails")(fail)
    app.schedule(Rate(1, unit=Rate.MINUTES), name="works")(last)

    run_schedules(app, stop)

    assert ran == ["fails", "works"]


def test_the_handlers_of_the_app_itself_run_as_schedules(app: Chalice) -> None:
    for schedule in declared_schedules(app):
        app.handler_map[schedule.name](scheduled_event(schedule.name), None)
