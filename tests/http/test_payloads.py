import json

import orjson
import pytest

from chalicelib.http import responses
from chalicelib.http.responses import BYTES_A_CHARACTER, MAX_BYTES, fitting

HEAVIEST = {
    "astral": "\N{DUCK}",
    "accented": "é",
    "quoted": '"',
    "escaped": "\\",
    "control": "\x01",
    "plain": "a",
}


def weight(rows: list[str]) -> int:
    """Return what the rows take in a Lambda payload, as its runtimes for Python 3.11 write it."""
    body = orjson.dumps({"rows": rows, "next": None}).decode()
    return len(json.dumps({"statusCode": 200, "headers": {}, "body": body}))


# So few rows that only the heaviest are too many, and more rows than any answer can hold.
@pytest.mark.parametrize("number", [60, 600])
@pytest.mark.parametrize("character", HEAVIEST.values(), ids=HEAVIEST.keys())
def test_what_fits_is_below_lambdas_limit_whatever_the_text(character: str, number: int) -> None:
    rows = [character * 10_000] * number

    assert weight(rows[: fitting(rows)]) < 6_291_556


@pytest.mark.parametrize("character", HEAVIEST.values(), ids=HEAVIEST.keys())
def test_no_character_weighs_more_than_is_counted_for_it(character: str) -> None:
    assert weight([character * 10_000]) - weight([""]) <= 10_000 * BYTES_A_CHARACTER


def test_no_row_that_fits_is_left_out() -> None:
    rows = ["\N{DUCK}" * 10_000] * 600
    fits = fitting(rows)

    assert 0 < fits < len(rows)
    assert weight(rows[: fits + 1]) > MAX_BYTES


def test_one_row_fits_whatever_it_weighs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "MAX_BYTES", 10)

    assert fitting(["a" * 100, "b"]) == 1
    assert fitting([]) == 0
