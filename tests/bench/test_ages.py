"""A table of figures that is older than the code it measures says so."""

from pathlib import Path

import pytest

from bench import ages

CODE = """
\"\"\"Why it exists.\"\"\"

def add(first: int) -> int:
    \"\"\"Add.\"\"\"
    return first + 1  # one
"""
TABLE = "| ms |\n| -- |\n| 1  |\n"
PAGE = f"""Words.

<!-- bench: run -->

{TABLE}
<!-- /bench -->

<!-- bench: ads -->

{TABLE}
<!-- /bench -->

<!-- bench: bars -->
<!-- /bench -->
"""
ROOM = "ads.serving"
NOW = {"chalicelib.ads.serving.cache": "1", "chalicelib.http.routing": "2"}


@pytest.fixture
def _measures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ages, "digests_of", lambda part: NOW if part == "ads" else {})


def older(**changed: str) -> ages.Digests:
    names = {f"chalicelib.{name.replace('_', '.')}": value for name, value in changed.items()}
    return {"ads": {**NOW, **names}, "shop": {}}


@pytest.mark.parametrize(
    "same",
    [
        CODE.replace("# one", ""),
        CODE.replace("Add.", "Add one."),
        CODE.replace("Why it exists.", "Why."),
        CODE.replace("first + 1", "(first\n            + 1)"),
        f"\n\n{CODE}\n",
    ],
)
def test_words_and_layout_are_no_change(same: str) -> None:
    assert ages.digest(same) == ages.digest(CODE)


@pytest.mark.parametrize(
    "other",
    [
        CODE.replace("+ 1", "+ 2"),
        CODE.replace("add(", "plus("),
        CODE.replace("first: int", "first: float"),
        CODE + "\nadd(1)\n",
        CODE.replace("return first + 1", "return 'first + 1'"),
    ],
)
def test_other_code_is_a_change(other: str) -> None:
    assert ages.digest(other) != ages.digest(CODE)


@pytest.mark.usefixtures("_measures")
def test_a_fresh_page_has_no_marks() -> None:
    assert [*ages.faults(PAGE, older())] == []
    assert ages.mark(PAGE, older()) == PAGE


@pytest.mark.usefixtures("_measures")
@pytest.mark.parametrize(
    "measured",
    [
        older(ads_serving_cache="0"),
        older(ads_serving_gone="3"),
        {"ads": {name: value for name, value in NOW.items() if "serving" not in name}},
    ],
    ids=["changed", "gone", "come"],
)
def test_an_older_table_has_to_say_so(measured: ages.Digests) -> None:
    marked = ages.mark(PAGE, measured)

    assert [*ages.faults(PAGE, measured)] == ["run", "ads"]
    assert [*ages.faults(marked, measured)] == []
    assert marked.count(f"*Older than its code: `{ROOM}` changed after the measurement.*") == 2
    assert marked.count(TABLE) == 2


@pytest.mark.usefixtures("_measures")
def test_a_mark_is_written_once_and_goes_with_its_reason() -> None:
    measured = older(ads_serving_cache="0")
    marked = ages.mark(PAGE, measured)

    assert ages.mark(marked, measured) == marked
    assert [*ages.faults(marked, older())] == ["run", "ads"]
    assert ages.mark(marked, older()) == PAGE


@pytest.mark.usefixtures("_measures")
def test_of_many_rooms_the_first_are_named() -> None:
    measured = older(**{f"room{number}_x_y": "0" for number in range(9)})

    assert "`room5.x` and 3 more rooms changed" in ages.mark(PAGE, measured)


def test_a_part_measures_what_its_calls_lead_to() -> None:
    modules = ages.digests_of("ads").keys()

    assert {"chalicelib.ads.serving.decisions", "chalicelib.ads.serving.selection"} <= modules
    assert not any(each.startswith("chalicelib.shop.") for each in modules)


def test_a_measured_part_is_fresh_and_others_stay_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ages, "MEASURED", tmp_path / "measured.json")
    ages.MEASURED.write_text('{"ads": {}, "shop": {}}')

    ages.record(["ads"])

    measured = ages.read_measured()
    assert ages.changed_rooms("ads", measured) == []
    assert "shop.orders" in ages.changed_rooms("shop", measured)


@pytest.mark.parametrize("file", ages.PAGES, ids=lambda file: file.name)
def test_the_pages_say_which_tables_are_older(file: Path) -> None:
    found = [*ages.faults(file.read_text(), ages.read_measured())]

    assert found == [], "run script/bench --mark"
