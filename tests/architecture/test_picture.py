"""The picture of the house is that of today's imports."""

from tests.architecture.picture import FILE, drawing


def test_the_picture_in_the_docs_is_current() -> None:
    assert FILE.read_text() == drawing(), "run script/architecture, which draws it again"
