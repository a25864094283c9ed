"""The errors of a shop."""

from chalicelib.errors import Problem


class UnknownShop(Problem):
    """The site sells nothing: it has no settings of a shop."""

    status = 404
    code = "unknown_shop"
    title = "This site has no shop"


class CurrencyFixed(Problem):
    """A shop's currency was set before, and every stored price is in it."""

    status = 409
    code = "currency_fixed"
    title = "A shop's currency never changes"


class UnknownProduct(Problem):
    """The shop has no product of this id that the caller may see."""

    status = 404
    code = "unknown_product"
    title = "Product not found"


class ProductChanged(Problem):
    """The product is not as the caller read it; `facts` have its version."""

    status = 409
    code = "product_changed"
    title = "Somebody else has changed this product: read it, and change it again"

    def __init__(self, version: int) -> None:
        super().__init__(facts={"version": version})


class SkuTaken(Problem):
    """Another product of the shop has this SKU; `facts` say which."""

    status = 409
    code = "sku_taken"
    title = "Another product has this SKU"

    def __init__(self, sku: str, product_id: str) -> None:
        super().__init__(facts={"sku": sku, "product": product_id})


class ProductTooLarge(Problem):
    """The HTML of the product's text is over its limit."""

    status = 422
    code = "product_too_large"
    title = "The HTML of the product's text is too large"


class UnknownCategory(Problem):
    """The shop has no category of this id."""

    status = 404
    code = "unknown_category"
    title = "Category not found"


class CategoryCycle(Problem):
    """A category was to be moved below itself."""

    status = 409
    code = "category_cycle"
    title = "A category cannot be below itself"


class CategoryTooDeep(Problem):
    """The category, or one below it, would be deeper than a tree may be."""

    status = 409
    code = "category_too_deep"
    title = "A category can be at most 12 levels deep"


class CategoryNotEmpty(Problem):
    """The category has categories below it, and the call does not say what becomes of them."""

    status = 409
    code = "category_not_empty"
    title = "This category has others below it: remove them first, or send children=up"


class SlugTaken(Problem):
    """Two categories below the same one would have the same slug; `facts` say which slug."""

    status = 409
    code = "slug_taken"
    title = "Another category beside this one has this slug"

    def __init__(self, slug: str) -> None:
        super().__init__(facts={"slug": slug})


class TooManyCategories(Problem):
    """The shop has as many categories as a tree may have."""

    status = 409
    code = "too_many_categories"
    title = "A shop has at most 20,000 categories"
