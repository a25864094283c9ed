"""The floors of the house: a room uses only the rooms below it, by their public faces."""

from tests.architecture.floors import FEATURES
from tests.architecture.house import (
    FLOOR_OF,
    MODULES,
    face_of,
    imports_between_rooms,
    imports_of,
    room_of,
)


def test_every_module_is_in_a_room() -> None:
    homeless = [name for name in MODULES if name and room_of(name) not in FLOOR_OF]
    packages = {name for name in homeless if MODULES[name].name == "__init__.py"}

    assert set(homeless) == packages, (
        "give these a room on a floor of tests/architecture/floors.py, or move them into one: "
        f"{sorted(set(homeless) - packages)}"
    )


def test_every_room_of_the_floors_exists() -> None:
    assert [room for room in FLOOR_OF if room not in MODULES] == []


def test_a_room_imports_only_what_is_below_it() -> None:
    upwards = [
        f"{each.importer}:{each.line} imports {each.imported}: {room_of(each.importer)} is on "
        f"floor {FLOOR_OF[room_of(each.importer)]}, {room_of(each.imported)} on floor "
        f"{FLOOR_OF[room_of(each.imported)]}. Move what both need to a floor below, or hand it in "
        "as an argument"
        for each in imports_between_rooms()
        if room_of(each.imported) in FLOOR_OF
        and room_of(each.importer) in FLOOR_OF
        and FLOOR_OF[room_of(each.imported)] >= FLOOR_OF[room_of(each.importer)]
    ]

    assert upwards == []


def test_a_room_is_entered_by_its_public_face() -> None:
    reaching = [
        f"{each.importer}:{each.line} reaches into {each.imported}, not in the public face of "
        f"{room}. Use what the face offers, or add the module to the docstring of {room}"
        for each in imports_between_rooms()
        if (face := face_of(room := room_of(each.imported))) is not None
        and each.imported != room
        and each.imported.removeprefix(f"{room}.").split(".")[0] not in face
    ]

    assert reaching == []


def test_no_room_offers_what_nobody_enters() -> None:
    entered = {each.imported for each in imports_between_rooms()} | {"routes", "schedules"}
    unused = [
        f"{room}.{module}"
        for room in FLOOR_OF
        for module in face_of(room) or ()
        if not any(
            used == f"{room}.{module}" or used.startswith(f"{room}.{module}.") for used in entered
        )
    ]

    assert unused == [], "take these out of their rooms' docstrings, or use them"


def test_no_room_takes_what_is_private_to_another() -> None:
    private = [
        f"{each.importer}:{each.line} imports {each.imported}.{each.name}"
        for module in MODULES
        for each in imports_of(module)
        if each.name.startswith("_") and each.name != "__version__"
    ]

    assert private == [], "give it a public name where it is defined, or keep its use there"


def test_no_feature_imports_another() -> None:
    across = [
        f"{each.importer}:{each.line} imports {each.imported}"
        for each in imports_between_rooms()
        for feature in FEATURES
        if each.importer.split(".")[0] in FEATURES
        and each.imported.split(".")[0] == feature != each.importer.split(".")[0]
    ]

    assert across == [], "what two features need belongs on a floor below both"
