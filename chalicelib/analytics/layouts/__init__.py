"""The two layouts of a report's document."""

from chalicelib.analytics.layout import Layout
from chalicelib.analytics.layouts.flat import FlatLayout
from chalicelib.analytics.layouts.hierarchical import HierarchicalLayout
from chalicelib.analytics.settings import LayoutName

LAYOUTS: dict[LayoutName, Layout] = {
    "flat": FlatLayout(),
    "hierarchical": HierarchicalLayout(),
}

__all__ = ["LAYOUTS"]
