"""Trees of categories: planted in a store, shown as a dict, and audited."""

from typing import Any, get_args

from chalicelib.runtime import Runtime
from chalicelib.shop import settings
from chalicelib.shop.categories import changes, copies, reading
from chalicelib.shop.categories.forms import Move, NewCategory
from chalicelib.shop.categories.rows import CATEGORIES, TREES, Category, StoreName
from chalicelib.shop.categories.stores import STORES
from chalicelib.shop.ids import name_of
from chalicelib.shop.settings import ShopSettings

NAMES: tuple[StoreName, ...] = get_args(StoreName)


class Grove:
    """A shop whose tree is in one store."""

    def __init__(self, runtime: Runtime, store: StoreName, site: str = "grove") -> None:
        self.runtime, self.store, self.site = runtime, store, site
        settings.put(runtime.database, site, ShopSettings(currency="EUR"))
        copies.store_in(runtime.database, site, store)

    @classmethod
    def standing(cls, runtime: Runtime, store: StoreName, site: str) -> "Grove":
        """Return a tree that is there, in this store by now."""
        grove = cls.__new__(cls)
        grove.runtime, grove.store, grove.site = runtime, store, site
        return grove

    def add(self, name: str, parent: str | None = None, slug: str = "") -> Category:
        new = NewCategory(name=name.title(), slug=slug or name, parent=parent)
        return changes.put(self.runtime, self.site, name, new).category

    def remove(self, name: str) -> None:
        changes.remove(self.runtime, self.site, name, lifts=False)

    def plant(self, *lines: str) -> None:
        """Add what is named by its path: `books/novels`."""
        for line in lines:
            above, _, name = line.rpartition("/")
            self.add(name, above.rpartition("/")[2] or None)

    def lines(self) -> list[str]:
        """Return each category as its path, depth first."""
        found: dict[str, str] = {}
        for each in reading.subtree(self.runtime.database, self.site, None).categories:
            above = found[each["parent"]] + "/" if each["parent"] else ""
            found[each["_id"]] = above + name_of(each["_id"])
        return list(found.values())

    def breadcrumb(self, name: str) -> list[str]:
        place = reading.place(self.runtime.database, self.site, name)
        return [each["slug"] for each in place.breadcrumb]

    def below(self, name: str, levels: int = 12) -> list[str]:
        branch = reading.subtree(self.runtime.database, self.site, name, levels)
        return [name_of(each["_id"]) for each in branch.categories]

    def faults(self) -> list[str]:
        """Return what contradicts itself: lines above, depths, siblings, cycles, the count."""
        rows = {
            each["_id"]: each
            for each in CATEGORIES.of(self.runtime.database).find({"site": self.site})
        }
        found = [fault for each in rows.values() for fault in _faults(rows, each, self.store)]
        (tree,) = TREES.of(self.runtime.database).find({"_id": self.site})
        if tree["count"] != len(rows):
            found.append(f"{tree['count']} counted, {len(rows)} there")
        sisters = [(each["parent"], each["slug"]) for each in rows.values()]
        found += [f"{each} twice" for each in set(sisters) if sisters.count(each) > 1]
        return found


def _faults(rows: dict[str, Category], category: Category, store: StoreName) -> list[str]:
    line: list[Category] = []
    at = category["parent"]
    while at is not None:
        if at not in rows or len(line) > len(rows):
            return [f"{category['_id']} is below nothing, or below itself"]
        line.append(rows[at])
        at = rows[at]["parent"]
    line.reverse()
    above: Any = None
    for each in line:
        above = {**each, **STORES[store].place_fields(each["_id"], above)}
    placed = STORES[store].place_fields(category["_id"], above)
    stored = {name: value for name, value in category.items() if name in {"ancestors", "path"}}
    found = []
    if stored != placed:
        found.append(f"{category['_id']} stores {stored} instead of {placed}")
    if category["depth"] != len(line) + 1:
        found.append(f"{category['_id']} has depth {category['depth']} instead of {len(line) + 1}")
    return found


def take(grove: Grove, step: tuple[Any, ...]) -> None:
    """Take a step in the shop's tree."""
    runtime, site = grove.runtime, grove.site
    match step:
        case ("add", name, parent):
            grove.add(name, parent)
        case ("move", name, parent, position):
            changes.move(runtime, site, name, Move(parent=parent, position=position))
        case ("remove", name, lifts):
            changes.remove(runtime, site, name, lifts=lifts)
        case ("store", store):
            copies.store_in(runtime.database, site, store)
            grove.store = store
