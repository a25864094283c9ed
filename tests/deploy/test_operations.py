"""docs/operations speaks of the alarms, parameters and files that there are."""

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from app import app as declared_app
from chalicelib.observability import metrics
from deploy.declared import (
    ROOT,
    Api,
    Command,
    Function,
    Scheduled,
    Worker,
    declared_functions,
    stage_environment,
    title_of,
)
from deploy.template import ALARMS as ALARMS_FILE
from deploy.template import DASHBOARD as DASHBOARD_FILE
from tests.deploy.sam import translated
from tests.deploy.support.reading import attribute_of, properties

pytestmark = pytest.mark.processes

FOLDER = ROOT / "docs" / "operations"
PAGES = sorted(FOLDER.glob("*.md"))
ALARMS = FOLDER / "alarms.md"
FUNCTIONS = declared_functions(declared_app, "prod")


def sections(level: int, text: str) -> dict[str, str]:
    """Return the text below each heading of a level."""
    parts = re.split(rf"^{'#' * level} (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def prose_of(page: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page: Path) -> list[str]:
    """Return the anchors that a page's headings have where it is shown."""
    headings = re.findall(r"^#+ (.+)$", prose_of(page), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings]


def alarms(nested: dict[str, Any]) -> list[Any]:
    resources = nested[ALARMS_FILE]["Resources"].values()
    assert {each["Type"] for each in resources} == {"AWS::CloudWatch::Alarm"}
    return [each["Properties"] for each in resources]


def named_alarms(nested: dict[str, Any]) -> dict[str, Any]:
    """Return the alarms by their names without the stack's."""
    prefix = "${Deployment}/"
    names = {each["AlarmName"]["Fn::Sub"]: each for each in alarms(nested)}
    assert all(name.startswith(prefix) for name in names)
    return {name.removeprefix(prefix): each for name, each in names.items()}


def own_namespace() -> str:
    return str(stage_environment("prod")["PLAZA_METRICS_NAMESPACE"])


def test_each_kind_of_alarm_has_its_section_and_each_section_its_alarms(nested: Any) -> None:
    described = sections(3, sections(2, ALARMS.read_text())["Alarms"])
    kinds = set()
    for alarm in alarms(nested):
        page, _, kind = alarm["AlarmDescription"].partition("#")
        assert (ROOT / page) == ALARMS
        assert alarm["AlarmName"]["Fn::Sub"].endswith(f"-{kind}")
        kinds.add(kind)

    assert described.keys() == kinds
    assert all(text.strip() for text in described.values())


def test_each_worker_has_its_row_on_messages_in_dead_letters() -> None:
    section = sections(2, ALARMS.read_text())["Messages in dead letters"]
    rows = re.findall(r"^\| (`.+?`) \|", section, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]

    assert sorted(named) == sorted(each.title for each in FUNCTIONS if isinstance(each, Worker))


def test_each_alarm_has_a_name_of_its_own_and_says_what_silence_means(nested: Any) -> None:
    names = [alarm["AlarmName"]["Fn::Sub"] for alarm in alarms(nested)]

    assert len(set(names)) == len(names)
    for alarm in alarms(nested):
        is_missed = alarm["AlarmName"]["Fn::Sub"].endswith("-missed")
        assert alarm["TreatMissingData"] == ("breaching" if is_missed else "notBreaching")
        assert alarm["AlarmActions"]["Fn::If"][0] == "HasAlarmTopic"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda each: each.name)
def test_each_function_is_watched_but_the_commands(nested: Any, function: Function) -> None:
    kinds = {"errors", "throttles", "near-timeout"}
    match function:
        case Worker():
            kinds |= {"dead-letters", "oldest-message"}
        case Api():
            kinds |= {"failing", "slow"}
        case Command():
            kinds = set()
    watched = named_alarms(nested).keys()
    # `sweep-marks` begins as `sweep` does, and is another function.
    others = tuple(
        f"{each.title}-" for each in FUNCTIONS if each.title.startswith(f"{function.title}-")
    )
    own = {each for each in watched if each.startswith(f"{function.title}-")}

    assert {each for each in own if not each.startswith(others)} == {
        f"{function.title}-{kind}" for kind in kinds
    }


def test_a_missed_schedule_is_one_that_did_not_run_in_three_periods(
    template: Any, nested: Any
) -> None:
    named = named_alarms(nested)
    passed = properties(template, "AlarmStack")["Parameters"]
    rules = rules_of(template)
    scheduled = [each for each in FUNCTIONS if isinstance(each, Scheduled)]
    for function, schedule in [(each, job) for each in scheduled for job in each.schedules]:
        alarm = named[f"{title_of(schedule.name)}-missed"]
        assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/Events", "Invocations")
        (dimension,) = alarm["Dimensions"]
        assert dimension["Name"] == "RuleName"
        rule = rules[passed[dimension["Value"]["Ref"]]["Ref"]]
        assert json.loads(rule["Targets"][0]["Input"]) == {"schedule": schedule.name}
        assert rule["Targets"][0]["Arn"] == attribute_of(function.resource)
        assert alarm["Period"] == schedule.every.total_seconds()
        assert alarm["EvaluationPeriods"] == 3
        assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("LessThanThreshold", 1)


def test_a_schedule_that_fails_rings_until_its_next_run(nested: Any) -> None:
    named = named_alarms(nested)
    for function in FUNCTIONS:
        if isinstance(function, Scheduled):
            alarm = named[f"{function.title}-errors"]
            slowest = max(each.every for each in function.schedules)
            assert alarm["Period"] == max(300, slowest.total_seconds())


def rules_of(template: Any) -> dict[str, Any]:
    """Return the properties of EventBridge's rules, as SAM makes them."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        resources = translated(copy.deepcopy(template))["Resources"]
    return {
        name: each["Properties"]
        for name, each in resources.items()
        if each["Type"] == "AWS::Events::Rule"
    }


def test_each_alarm_on_our_own_metrics_has_a_series_that_is_counted(nested: Any) -> None:
    series = {(name, each.dimensions) for each in metrics.ALL for name in each.units}
    over_all = {name for name, dimensions in series if () in dimensions}
    namespace = own_namespace()
    for alarm in alarms(nested):
        if alarm.get("Namespace") == namespace:
            assert alarm["MetricName"] in over_all
            assert alarm["Dimensions"] == []
        for part in alarm.get("Metrics", []):
            if "MetricStat" in part:
                assert part["MetricStat"]["Metric"]["MetricName"] in over_all


def test_messages_that_fail_for_a_quarter_of_an_hour_ring(nested: Any) -> None:
    alarm = named_alarms(nested)["queues-failed-messages"]
    ((query,), namespace) = alarm["Metrics"], own_namespace()

    assert query["Expression"].endswith(f'FROM SCHEMA("{namespace}", queue)')
    assert query["Expression"].startswith("SELECT SUM(failed_messages) ")
    assert metrics.BATCH.dimensions == (("queue",),)
    assert "failed_messages" in metrics.BATCH.units
    assert query["Period"] * alarm["EvaluationPeriods"] == 15 * 60


def test_the_dashboard_shows_every_queue_function_and_alarm(template: Any, nested: Any) -> None:
    (dashboard,) = nested[DASHBOARD_FILE]["Resources"].values()
    text = dashboard["Properties"]["DashboardBody"]["Fn::Sub"]
    widgets = json.loads(text)["widgets"]
    passed = properties(template, "DashboardStack")["Parameters"]
    shown = re.findall(r"\${(\w+)}", text)

    for name, resource in template["Resources"].items():
        if resource["Type"] == "AWS::SQS::Queue":
            assert f"{name}QueueName" in shown, name
        if resource["Type"] == "AWS::Serverless::Function":
            assert name in shown, name
    assert set(shown) == passed.keys()
    lists = [each["properties"]["alarms"] for each in widgets if each["type"] == "alarm"]
    listed = [each.rpartition(":alarm:${Deployment}/")[2] for part in lists for each in part]
    assert listed == list(named_alarms(nested))
    for function in FUNCTIONS:
        if isinstance(function, Scheduled):
            for schedule in function.schedules:
                assert f'"schedule_ms", "schedule", "{schedule.name}"' in text
    places = {(each["x"], each["y"]) for each in widgets}
    assert len(places) == len(widgets)


def test_each_metric_of_ours_is_counted_somewhere() -> None:
    """An alarm on a metric that nobody counts never rings."""
    sources = [
        path.read_text()
        for path in (ROOT / "chalicelib").rglob("*.py")
        if path != Path(metrics.__file__)
    ]
    names = [name for name, each in vars(metrics).items() if isinstance(each, metrics.Metrics)]

    assert len(names) == len(metrics.ALL)
    for name in names:
        assert any(re.search(rf"\b{name}\b", text) for text in sources), name


def test_each_parameter_is_in_the_pages(template: Any) -> None:
    text = "".join(page.read_text() for page in PAGES)
    for name in template["Parameters"]:
        kind = "…Concurrency" if name.endswith("Concurrency") else name
        assert f"`{name}`" in text or f"`{kind}`" in text, name


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_each_link_leads_to_one_heading(page: Path) -> None:
    assert len(set(anchors(page))) == len(anchors(page))
    for target in re.findall(r"\]\(([^)]+)\)", prose_of(page)):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        other = (page.parent / file).resolve() if file else page
        assert other.exists(), target
        if anchor:
            assert anchor in anchors(other), target


def test_each_output_that_the_pages_read_is_there(template: Any) -> None:
    text = "".join(page.read_text() for page in PAGES)
    named = set(re.findall(r"\$\(output (\w+)\)", text))

    assert named
    assert named <= template["Outputs"].keys()
