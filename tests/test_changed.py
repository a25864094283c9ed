"""The tests that `script/test --changed` chooses for changed files."""

import sys

import pytest

from tests import changed
from tests.changed import tests_of as choose


@pytest.mark.parametrize(
    ("file", "chosen"),
    [
        ("chalicelib/shop/carts/holds.py", ["tests/shop/carts"]),
        ("tests/shop/carts/test_lines.py", []),
        ("tests/comments/support/discussion.py", ["tests/comments"]),
        ("tests/test_limits.py", ["tests/test_limits.py"]),
        ("deploy/wheels.py", ["tests/deploy"]),
        ("docs/security.md", ["tests/test_docs.py"]),
        ("README.md", ["tests/test_readme.py"]),
        ("LICENSE", []),
    ],
)
def test_a_file_has_its_tests(file: str, chosen: list[str]) -> None:
    assert choose([file]) == chosen


def test_rooms_that_import_a_changed_module_are_tested_too() -> None:
    chosen = choose(["chalicelib/comments/mentions.py"])

    assert "tests/comments/test_mentions.py" in chosen
    assert "tests/comments/writing" in chosen
    assert "tests/shop/carts" not in chosen


def test_a_folder_stands_for_the_files_in_it() -> None:
    files = ["chalicelib/shop/carts/holds.py", "tests/shop/carts/test_carts.py"]

    assert choose(files) == ["tests/shop/carts"]


def test_an_element_is_tested_by_the_pages_that_have_it() -> None:
    chosen = choose(["web/embed/cart.js"])

    assert "tests/web/test_cart.py" in chosen
    assert "tests/web/test_votes.py" not in chosen


def test_a_base_that_git_does_not_know_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["script/test --changed", "nonsense"])

    with pytest.raises(SystemExit, match=r"nonsense[^$]*name a BASE"):
        changed.main()
