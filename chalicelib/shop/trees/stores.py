"""The stores of trees by their names."""

from chalicelib.shop.trees.ancestors import AncestorsStore
from chalicelib.shop.trees.parents import ParentsStore
from chalicelib.shop.trees.paths import PathsStore
from chalicelib.shop.trees.rows import StoreName
from chalicelib.shop.trees.store import TreeStore

STORES: dict[StoreName, TreeStore] = {
    each.name: each for each in (AncestorsStore(), PathsStore(), ParentsStore())
}
