"""A command runs with all of its arguments, or an error names every fault and nothing runs."""

from typing import Any

import pytest
from chalice.app import Chalice

from chalicelib.jobs.commands import Arguments, Command, InvalidCommand, declare, run_command
from chalicelib.runtime import Runtime
from chalicelib.wiring.commands import COMMANDS

Ran = list[tuple[str, dict[str, Any]]]


@pytest.fixture
def ran() -> Ran:
    return []


@pytest.fixture
def call(runtime: Runtime, ran: Ran) -> Any:
    """Return the handler of two commands, which note their runs."""

    def noted(name: str) -> Any:
        def run(_runtime: Runtime, given: Arguments) -> dict[str, bool]:
            ran.append((name, dict(given)))
            return {"done": True}

        return run

    app = Chalice("plaza", configure_logs=False)
    commands = (
        Command("move", noted("move"), required=("from", "to")),
        Command("mend", noted("mend"), optional={"after": "", "repair": False}),
    )
    declare(app, runtime, lambda given, event: run_command(given, commands, event))
    handler = app.handler_map["command"]
    return lambda event: handler(event, None)


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"command": "move", "from": "a", "to": "b"}, ("move", {"from": "a", "to": "b"})),
        ({"command": "mend"}, ("mend", {"after": "", "repair": False})),
        ({"command": "mend", "after": ""}, ("mend", {"after": "", "repair": False})),
        (
            {"command": "mend", "repair": True, "after": "x"},
            ("mend", {"after": "x", "repair": True}),
        ),
    ],
)
def test_a_command_runs_with_its_arguments(
    call: Any, ran: Ran, event: Any, expected: tuple[str, Any]
) -> None:
    assert call(event) == {"done": True}
    assert ran == [expected]


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ({}, "the event has no command; the commands are move, mend"),
        (None, "the event has no command"),
        ("move", "the event has no command"),
        ([{"command": "move"}], "the event has no command"),
        ({"command": None}, "the event has no command"),
        ({"Command": "move"}, "the event has no command"),
        ({"command": "remove"}, "there is no command 'remove'; the commands are move, mend"),
        ({"command": ""}, "there is no command ''"),
        ({"command": {"move": 1}}, r"there is no command \{'move': 1\}"),
        ({"command": "move"}, "move: from is missing; to is missing$"),
        ({"command": "move", "from": "a"}, "move: to is missing$"),
        ({"command": "move", "from": "a", "To": "b"}, "move: To is unknown; to is missing$"),
        (
            {"command": "move", "from": "", "to": 1},
            "move: from has to be a text that is not empty; to has to be a text that is not empty$",
        ),
        ({"command": "move", "from": None, "to": "b"}, "move: from has to be a text"),
        ({"command": "mend", "before": "x"}, "mend: before is unknown$"),
        ({"command": "mend", "repair": "true"}, "mend: repair has to be true or false$"),
        ({"command": "mend", "repair": 1}, "mend: repair has to be true or false$"),
        ({"command": "mend", "after": True}, "mend: after has to be a text$"),
        ({"command": "mend", "after": None}, "mend: after has to be a text$"),
    ],
)
def test_an_event_with_a_fault_runs_nothing(call: Any, ran: Ran, event: Any, told: str) -> None:
    with pytest.raises(InvalidCommand, match=told):
        call(event)

    assert ran == []


def test_the_commands_of_plaza_have_names_of_their_own() -> None:
    names = [each.name for each in COMMANDS]

    assert len(set(names)) == len(names)
    for command in COMMANDS:
        assert "command" not in {*command.required, *command.optional}
        assert not set(command.required) & command.optional.keys()


@pytest.mark.parametrize(
    # Reconciling has to find its campaign: tests/ads/reports/test_roll_ups.py.
    "command",
    [each for each in COMMANDS if each.name != "reconcile_ads"],
    ids=lambda each: each.name,
)
def test_each_command_of_plaza_takes_its_arguments(app: Chalice, command: Command) -> None:
    values = {"kind": "post", "design": "folded"}
    given = {name: values.get(name, "nowhere") for name in command.required}

    answer = app.handler_map["command"]({"command": command.name, **given}, None)

    assert isinstance(answer, dict)
