"""Commands: work that a person or a deployment asks for by name, with checked arguments."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from chalice.app import Chalice

from chalicelib.jobs.schedules import quoting_nothing
from chalicelib.runtime import Runtime

Arguments = Mapping[str, Any]
# The Lambda function of all commands.
FUNCTION = "command"


@dataclass(frozen=True)
class Command:
    """Work by name, which returns JSON.

    `required`: arguments that are texts of one character or more. `optional`: arguments with their
    defaults; a value has the type of its default.
    """

    name: str
    run: Callable[[Runtime, Arguments], Any]
    required: tuple[str, ...] = ()
    optional: Mapping[str, str | bool] = field(default_factory=dict)


class InvalidCommand(ValueError):
    """An event without a known command, or with wrong arguments; the message lists the faults."""


def declare(app: Chalice, runtime: Runtime, run: Callable[[Runtime, Any], Any]) -> None:
    """Declare the Lambda function of commands, each run by an event that names it."""

    @app.lambda_function(name=FUNCTION)
    def command(event: Any, _context: object) -> Any:
        return run(runtime, event)


def run_command(runtime: Runtime, commands: tuple[Command, ...], event: Any) -> Any:
    """Run the command that an event names, with its other members as arguments.

    Raises InvalidCommand before anything runs.
    """
    named = event.get("command") if isinstance(event, dict) else None
    for command in commands:
        if command.name == named:
            arguments = _arguments(command, event)
            with quoting_nothing():
                return command.run(runtime, arguments)
    known = ", ".join(command.name for command in commands)
    missing = "the event has no command" if named is None else f"there is no command {named!r}"
    raise InvalidCommand(f"{missing}; the commands are {known}")


def _arguments(command: Command, event: Arguments) -> Arguments:
    """Return a command's arguments with defaults; raises InvalidCommand with all faults."""
    given = {name: value for name, value in event.items() if name != "command"}
    if faults := sorted(_faults(command, given)):
        raise InvalidCommand(f"{command.name}: {'; '.join(faults)}")
    return {**command.optional, **given}


def _faults(command: Command, given: Arguments) -> Iterator[str]:
    for name in command.required:
        if name not in given:
            yield f"{name} is missing"
        elif not isinstance(given[name], str) or not given[name]:
            yield f"{name} has to be a text that is not empty"
    for name, default in command.optional.items():
        if name in given and not isinstance(given[name], type(default)):
            yield f"{name} has to be {'true or false' if isinstance(default, bool) else 'a text'}"
    for name in given.keys() - {*command.required, *command.optional}:
        yield f"{name} is unknown"
