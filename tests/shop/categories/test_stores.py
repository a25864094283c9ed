"""What every store of trees does: the same, with nothing that contradicts itself afterwards."""

from collections.abc import Iterator

import pytest

from chalicelib.runtime import Runtime
from chalicelib.shop.categories import changes, copies, reading
from chalicelib.shop.categories.forms import MAX_CATEGORIES, Move, NewCategory
from chalicelib.shop.categories.rows import TREES, StoreName
from chalicelib.shop.errors import (
    CategoryCycle,
    CategoryNotEmpty,
    CategoryTooDeep,
    SlugTaken,
    TooManyCategories,
    UnknownCategory,
    UnknownShop,
)
from tests.shop.support.trees import NAMES, Grove

PLANTED = (
    "books",
    "books/novels",
    "books/novels/crime",
    "books/novels/love",
    "books/poems",
    "parts",
    "parts/wheels",
    "parts/wheels/spokes",
)


@pytest.fixture(params=NAMES)
def grove(request: pytest.FixtureRequest, runtime: Runtime) -> Iterator[Grove]:
    grove = Grove(runtime, request.param)
    grove.plant(*PLANTED)
    yield grove
    assert grove.faults() == []


def move(grove: Grove, name: str, parent: str | None, position: int | None = None) -> None:
    changes.move(grove.runtime, grove.site, name, Move(parent=parent, position=position))


def remove(grove: Grove, name: str, *, lifts: bool = False) -> None:
    changes.remove(grove.runtime, grove.site, name, lifts=lifts)


def rename(grove: Grove, name: str, to: str, parent: str | None) -> None:
    changes.put(
        grove.runtime, grove.site, name, NewCategory(name=to, slug=to.lower(), parent=parent)
    )


def test_what_was_added_is_read_depth_first(grove: Grove) -> None:
    assert grove.lines() == list(PLANTED)
    assert grove.breadcrumb("crime") == ["books", "novels"]
    assert grove.breadcrumb("books") == []
    assert grove.below("books") == ["novels", "crime", "love", "poems"]
    assert grove.below("books", 1) == ["novels", "poems"]
    assert grove.below("spokes") == []
    children = reading.place(grove.runtime.database, grove.site, "novels").children
    assert [each["slug"] for each in children] == ["crime", "love"]


def test_ids_above_several_categories_are_read_at_once(grove: Grove) -> None:
    found = reading.places_above(grove.runtime.database, grove.site, ["crime", "parts", "none"])

    assert found == {"grove:crime": ["grove:books", "grove:novels"], "grove:parts": []}


def test_a_move_takes_along_what_is_below(grove: Grove) -> None:
    move(grove, "novels", "wheels")

    assert grove.below("parts") == ["wheels", "spokes", "novels", "crime", "love"]
    assert grove.below("books") == ["poems"]
    assert grove.breadcrumb("crime") == ["parts", "wheels", "novels"]

    move(grove, "novels", None)
    assert grove.lines()[-3:] == ["novels", "novels/crime", "novels/love"]
    assert grove.breadcrumb("crime") == ["novels"]


def test_a_category_is_moved_among_those_beside_it(grove: Grove) -> None:
    grove.plant("books/essays")

    move(grove, "essays", "books", 0)
    assert grove.below("books", 1) == ["essays", "novels", "poems"]
    move(grove, "essays", "books", 1)
    assert grove.below("books", 1) == ["novels", "essays", "poems"]
    move(grove, "novels", "books", 9)
    assert grove.below("books", 1) == ["essays", "poems", "novels"]
    move(grove, "love", "books", 1)
    assert grove.below("books", 1) == ["essays", "love", "poems", "novels"]


def test_names_that_look_like_fields_are_names(grove: Grove) -> None:
    named = NewCategory(name="$slug", slug="novels", parent="books")
    changes.put(grove.runtime, grove.site, "novels", named)
    move(grove, "novels", "parts")

    place = reading.place(grove.runtime.database, grove.site, "crime")
    assert [each["name"] for each in place.breadcrumb] == ["Parts", "$slug"]


def test_a_new_name_is_told_by_what_is_below(grove: Grove) -> None:
    rename(grove, "books", "Library", None)

    place = reading.place(grove.runtime.database, grove.site, "crime")
    assert [each["name"] for each in place.breadcrumb] == ["Library", "Novels"]
    assert grove.breadcrumb("crime") == ["library", "novels"]


def test_a_category_that_is_put_elsewhere_moves(grove: Grove) -> None:
    rename(grove, "novels", "Fiction", "parts")

    assert grove.breadcrumb("crime") == ["parts", "fiction"]
    assert grove.below("parts", 1) == ["wheels", "novels"]


@pytest.mark.parametrize("target", ["books", "novels", "crime"])
def test_nothing_goes_below_itself(grove: Grove, target: str) -> None:
    with pytest.raises(CategoryCycle):
        move(grove, "books", target)

    assert grove.lines() == list(PLANTED)


def test_a_tree_is_twelve_levels_deep(grove: Grove) -> None:
    names = [f"l{depth}" for depth in range(1, 13)]
    grove.plant("/".join(names[:1]), *("/".join(names[:end]) for end in range(2, 13)))

    with pytest.raises(CategoryTooDeep):
        grove.add("l13", "l12")
    with pytest.raises(CategoryTooDeep):
        move(grove, "novels", "l11")
    move(grove, "novels", "l10")
    assert grove.breadcrumb("crime") == [*names[:10], "novels"]


def test_a_category_without_any_below_is_removed(grove: Grove) -> None:
    with pytest.raises(CategoryNotEmpty):
        remove(grove, "novels")
    remove(grove, "crime")

    assert grove.below("novels") == ["love"]
    with pytest.raises(UnknownCategory):
        grove.breadcrumb("crime")


@pytest.mark.parametrize("removed", ["novels", "books"])
def test_what_is_below_a_removed_category_goes_up(grove: Grove, removed: str) -> None:
    remove(grove, removed, lifts=True)

    parts = [line.split("/") for line in PLANTED]
    left = {"/".join(each for each in line if each != removed) for line in parts} - {""}
    assert set(grove.lines()) == left


def test_what_goes_up_may_not_take_a_slug(grove: Grove) -> None:
    grove.add("poems-2", "novels", slug="poems")

    with pytest.raises(SlugTaken) as raised:
        remove(grove, "novels", lifts=True)

    assert raised.value.facts == {"slug": "poems"}
    assert "books/novels/poems-2" in grove.lines()


def test_slugs_differ_beside_each_other(grove: Grove) -> None:
    with pytest.raises(SlugTaken):
        grove.add("other", "books", slug="novels")
    with pytest.raises(SlugTaken):
        rename(grove, "poems", "Novels", "books")
    grove.add("other", "parts", slug="novels")
    with pytest.raises(SlugTaken):
        move(grove, "other", "books")
    rename(grove, "novels", "Novels", "books")


def test_unknown_categories_are_refused(grove: Grove) -> None:
    calls = (
        lambda: move(grove, "none", None),
        lambda: move(grove, "books", "none"),
        lambda: remove(grove, "none"),
        lambda: grove.add("new", "none"),
        lambda: grove.below("none"),
        lambda: grove.breadcrumb("none"),
    )
    for call in calls:
        with pytest.raises(UnknownCategory):
            call()


def test_a_tree_has_a_bound(grove: Grove) -> None:
    trees = TREES.of(grove.runtime.database)
    trees.update_one({"_id": grove.site}, {"$set": {"count": MAX_CATEGORIES}})
    try:
        with pytest.raises(TooManyCategories):
            grove.add("new")
    finally:
        trees.update_one({"_id": grove.site}, {"$set": {"count": len(PLANTED)}})


@pytest.mark.parametrize("to", NAMES)
def test_a_tree_is_stored_in_another_store(grove: Grove, to: StoreName) -> None:
    copies.store_in(grove.runtime.database, grove.site, to)
    grove.store = to

    assert grove.lines() == list(PLANTED)
    assert grove.faults() == []
    move(grove, "novels", "wheels")
    assert grove.breadcrumb("crime") == ["parts", "wheels", "novels"]


def test_a_tree_is_copied_into_an_empty_shop(grove: Grove) -> None:
    copied = copies.export(grove.runtime.database, grove.site)
    other = Grove(grove.runtime, grove.store, "other")
    copies.load(grove.runtime.database, "other", copied)

    assert other.lines() == list(PLANTED)
    assert other.faults() == []
    with pytest.raises(CategoryNotEmpty):
        copies.load(grove.runtime.database, "other", copied)


def test_a_tree_needs_a_shop(runtime: Runtime) -> None:
    with pytest.raises(UnknownShop):
        changes.put(runtime, "none", "books", NewCategory(name="Books", slug="books"))
