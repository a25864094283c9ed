"""Single products in the API: publishers write them, customers read active products."""

from chalicelib.assets.errors import UnknownAsset
from chalicelib.http import (
    Accepted,
    Created,
    NoContent,
    NotModified,
    Ok,
    Request,
    Route,
    conditional,
)
from chalicelib.http.callers import Publisher
from chalicelib.identity import Principal
from chalicelib.limits import INVENTORY
from chalicelib.shop.catalogue import rewriting, writing
from chalicelib.shop.catalogue.forms import (
    BODY_LIMIT_BYTES,
    LayoutChoice,
    NewProduct,
    ProductAnswer,
    product_answer,
)
from chalicelib.shop.catalogue.rows import Product, find
from chalicelib.shop.errors import (
    ProductChanged,
    ProductTooLarge,
    SkuTaken,
    UnknownProduct,
    UnknownShop,
)
from chalicelib.shop.ids import ProductId
from chalicelib.shop.settings_routes import ShopAnswer, shop_answer
from chalicelib.sites.ids import SiteId
from chalicelib.sites.permissions import check_publisher, owns


def declare(route: Route) -> None:
    """Declare the routes."""
    _declare_write(route)
    _declare_product(route)
    _declare_layout(route)


def _declare_write(route: Route) -> None:
    @route(
        "PUT",
        "/shops/{site}/products/{product}",
        limit=INVENTORY,
        body_limit_bytes=BODY_LIMIT_BYTES,
        needs_version=True,
        tells_version=True,
        raises=(
            UnknownShop,
            UnknownProduct,
            ProductChanged,
            SkuTaken,
            ProductTooLarge,
            UnknownAsset,
        ),
    )
    def put_product(
        request: Request, site: SiteId, product: ProductId, publisher: Publisher, body: NewProduct
    ) -> Ok[ProductAnswer] | Created[ProductAnswer]:
        """Write a product, whole.

        A new product needs no version. To replace a product, name its version in `If-Match`; after
        another write, the call fails and changes nothing.
        """
        check_publisher(publisher, site)
        version = conditional.named_version(request)
        writing.check_assets(request.runtime, site, product, body.assets, publisher)
        written = writing.put(request.runtime, site, product, body, version)
        answer, headers = product_answer(written.product), _tag(written.product)
        if not written.is_new:
            return Ok(answer, headers)
        location = request.location(f"/shops/{site}/products/{product}")
        return Created(answer, {**headers, **location})


def _declare_product(route: Route) -> None:
    @route("GET", "/shops/{site}/products/{product}", tells_version=True, raises=(UnknownProduct,))
    def get_product(
        request: Request, site: SiteId, product: ProductId, caller: Principal | None
    ) -> Ok[ProductAnswer] | NotModified:
        """Read a product; only its publisher reads drafts and archived products."""
        found = find(request.runtime.database, site, product)
        if found["state"] != "active" and not (caller and owns(caller, site)):
            raise UnknownProduct
        headers = _tag(found)
        if headers["ETag"] in conditional.held_tags(request):
            return NotModified(headers=headers)
        return Ok(product_answer(found), headers)

    @route("DELETE", "/shops/{site}/products/{product}", limit=INVENTORY, raises=(UnknownProduct,))
    def archive_product(
        request: Request, site: SiteId, product: ProductId, publisher: Publisher
    ) -> NoContent:
        """Archive a product: it leaves the shop, and keeps its SKUs."""
        check_publisher(publisher, site)
        writing.archive(request.runtime, site, product)
        return NoContent()


def _declare_layout(route: Route) -> None:
    @route("POST", "/shops/{site}/layout", raises=(UnknownShop,))
    def choose_layout(
        request: Request, site: SiteId, publisher: Publisher, body: LayoutChoice
    ) -> Ok[ShopAnswer] | Accepted[ShopAnswer]:
        """Choose the layout of products' details; a job rewrites existing products."""
        check_publisher(publisher, site)
        shop = rewriting.choose(request.runtime, site, body.store)
        answer = shop_answer(shop)
        return Accepted(answer) if answer["is_rewriting"] else Ok(answer)


def _tag(product: Product) -> dict[str, str]:
    return {"ETag": conditional.version_tag(product["version"])}
