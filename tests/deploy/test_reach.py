"""A function loads modules that it reaches; the bounds of the others only fall."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app import app as declared_app
from bench import reach
from chalicelib.settings import PREFIX
from deploy.declared import declared_functions
from tests.deploy.support.reading import properties
from tests.jobs.test_functions import loaded

WORKER = """
from typing import TYPE_CHECKING
import spare, useful.parts
from chalicelib import member
from chalicelib.room import Shown
from chalicelib.unused import LEFT
if TYPE_CHECKING:
    from chalicelib.types import Only

def work(row: "Only") -> Shown:
    from chalicelib.later import late
    late()
    return member.call(useful.parts.of(row))

def other() -> None:
    spare.call(LEFT)
"""
FILES = {
    "work": WORKER,
    "member": "from chalicelib.deep import below\ndef call(row): return below(row)",
    "deep": "def below(row): return row",
    "room/__init__": "from chalicelib.room.shown import Shown\nimport chalicelib.room.idle",
    "room/shown": "from chalicelib.method import run\nclass Shown:\n    def go(self): run()",
    "room/idle": "class Idle: pass",
    "method": "from chalicelib.effect import note\nnote()\ndef run(): pass",
    "effect": "def note(): pass",
    "unused": "LEFT = 1",
    "later": "import slow\ndef late(): slow.go()",
    "types": "class Only: pass",
}


@pytest.fixture
def _package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name, text in FILES.items():
        file = tmp_path / "chalicelib" / f"{name}.py"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (tmp_path / "chalicelib" / "__init__.py").touch()
    (tmp_path / "app.py").touch()
    monkeypatch.setattr(reach, "ROOT", tmp_path)
    forget()
    yield
    forget()


def forget() -> None:
    for each in (reach.files, reach.sources, reach.next_names):
        each.cache_clear()


@pytest.mark.usefixtures("_package")
def test_a_module_without_a_reached_name_is_loaded_for_nothing() -> None:
    assert reach.find_unreached(["chalicelib.work:work"]) == [
        "chalicelib.room.idle",
        "chalicelib.unused",
        "spare",
    ]


@pytest.mark.usefixtures("_package")
def test_another_function_of_the_module_reaches_others() -> None:
    found = reach.find_unreached(["chalicelib.work:other"])

    assert {"chalicelib.member", "chalicelib.deep", "useful"} <= {*found}
    assert not {"chalicelib.unused", "spare", "chalicelib.later", "slow"} & {*found}


def test_a_library_and_a_module_above_the_bound_are_faults() -> None:
    found = {"fine": ["chalicelib.a"], "more": ["chalicelib.a", "chalicelib.b"], "new": ["boto3"]}

    lines = [*reach.faults(found, {"fine": 1, "more": 1, "new": 1})]

    assert len(lines) == 2
    assert "more loads 2 modules for nothing, and 1 at most" in lines[0]
    assert lines[1] == "new loads libraries for nothing: boto3"


@pytest.mark.parametrize("name", ["analytics_schedules", "send_letters"])
def test_the_source_tells_what_a_container_loads(name: str) -> None:
    in_a_process = {each for each in loaded(name) if each.partition(".")[0] == "chalicelib"}

    roots = (*reach.FRAME, *dict(reach.handler_roots())[name])
    by_the_source = reach.load(root.partition(":")[0] for root in roots)

    assert {
        each for each in by_the_source if each.partition(".")[0] == "chalicelib"
    } == in_a_process


def readers_of(field: str) -> set[reach.Name]:
    """Return the names, outside the settings, whose statements read this attribute."""
    return {
        reach.Name(module, name)
        for module, source in reach.sources().items()
        if module != "chalicelib.settings"
        for name, statements in source.definitions.items()
        if any(
            isinstance(node, ast.Attribute) and node.attr == field
            for statement in statements
            for node in ast.walk(statement)
        )
    }


def test_each_function_has_the_settings_that_it_reads(template: Any) -> None:
    """The workers of other tests have all settings, so only this test misses a variable."""
    declared = {each.name: each for each in declared_functions(declared_app, "prod")}
    given = {
        name: properties(template, each.resource).get("Environment", {}).get("Variables", {})
        for name, each in declared.items()
    }
    partial = {each.removeprefix(PREFIX).lower() for own in given.values() for each in own}
    readers = {field: readers_of(field) for field in partial}
    reached = {
        name: reach.reach(reach.Name(*root.split(":")) for root in roots)
        for name, roots in reach.handler_roots()
        if name in given
    }
    lacking = [
        (name, field)
        for name, names in reached.items()
        for field in partial
        if readers[field] & names and f"{PREFIX}{field.upper()}" not in given[name]
    ]

    assert all(readers[field] for field in ("signing_keys", "subject_key", "stripe_key"))
    # It asks whether letters are sent, and sends none itself.
    assert lacking == [("comments_schedules", "mail_configuration_set")]


def test_no_function_loads_more_for_nothing_than_before() -> None:
    found = reach.unreached_by_function()

    assert [*reach.faults(found, reach.read_budgets())] == []
    assert found.keys() == reach.read_budgets().keys()
