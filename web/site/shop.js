// @ts-check
/** The harbour shop: the newspaper's own view of Plaza's catalogue, beside <plaza-cart>. */

/** @typedef {import("../embed/plaza-api.js").components["schemas"]} Schemas */
/** @typedef {Schemas["ProductSummary"]} Product */

const PAGE = 6;
const FEW = 3;
const SHOP = "/shop";
const { shop = "", currency = "EUR", product: productId } = one(".shop").dataset;
const API = `/shops/${shop}`;
const money = new Intl.NumberFormat("en", { style: "currency", currency });
/** Whether <plaza-cart> is loaded, so that the buttons work. */
let hasCart = false;
/** Counts the calls for a list; the answer to an earlier call is dropped. */
let turn = 0;
/** The units left of each SKU shown. @type {Record<string, number>} */
let stock = {};

/** @param {string} selector @returns {HTMLElement} */
function one(selector) {
  return /** @type {HTMLElement} */ (document.querySelector(selector));
}

/** @param {string} path @returns {Promise<any>} */
async function get(path) {
  const answer = await fetch(API + path);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.title);
  return body;
}

/** @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node | string | null | undefined | false)} children */
function h(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
  return made;
}

/**
 * Return the list's address with other choices; "" removes a choice.
 * @param {Record<string, string | string[]>} change
 */
function address(change) {
  const query = new URLSearchParams(productId ? "" : location.search);
  for (const [name, value] of Object.entries(change)) {
    query.delete(name);
    // A value may have a comma: each stands by itself.
    for (const each of [value].flat()) if (each) query.append(name, each);
  }
  return query.size ? `${SHOP}?${query}` : SHOP;
}

/**
 * Return a SKU's price, the place of its stock, and its button.
 * @param {Product} product @param {Schemas["SkuAnswer"]} sku @param {string} tag
 */
function offer(product, sku, tag) {
  const options = Object.values(sku.options).join(", ");
  const title = options ? `${product.title}, ${options}` : product.title;
  return h(tag, { class: "sold" },
    options && h("span", {}, options),
    h("b", {}, money.format(sku.price_micros / 1e6)),
    h("span", { class: "stock", "data-sku": sku.sku }),
    h("button", { type: "button", "data-plaza-buy": sku.sku, "data-plaza-title": title, disabled: !hasCart, "aria-label": `Put into the cart: ${title}` }, "Put into the cart"));
}

/** @param {Product} product */
const picture = (product) => h("img", { src: `/site/shop-${product.categories[0]}.svg`, alt: "", width: 320, height: 200 });

/** @param {Product} product */
function card(product) {
  const link = `${SHOP}/${product.id}`;
  const [only, ...others] = product.skus;
  return h("li", { "data-product": product.id },
    h("a", { href: link, tabindex: -1, "aria-hidden": "true" }, picture(product)),
    h("h2", {}, h("a", { href: link, dir: "auto" }, product.title)),
    others.length
      ? h("p", { class: "sold" }, h("b", {}, `from ${money.format(product.price_micros / 1e6)}`), h("a", { href: link }, `${product.skus.length} to choose from`))
      : offer(product, only, "p"));
}

/** Show the stock of the first 100 SKUs on the page, and send it to the cart. */
async function showStock() {
  const places = [...document.querySelectorAll("[data-sku]")].slice(0, 100);
  if (!places.length) return;
  const skus = places.map((each) => each.getAttribute("data-sku")).join();
  const { available } = await get(`/stock?${new URLSearchParams({ skus })}`);
  for (const place of places) {
    const left = available[place.getAttribute("data-sku") || ""];
    place.textContent = left === 0 ? "sold out" : left <= FEW ? `${left} left` : "";
    place.className = left <= FEW ? "stock few" : "stock";
  }
  stock = available;
  sayStock();
}

const sayStock = () => document.dispatchEvent(new CustomEvent("plaza:stock", { detail: stock }));
// A cart that starts later has missed the event.
document.addEventListener("plaza:ready", sayStock);

/** @param {Schemas["CategoryPageAnswer"] | null} category @param {string} [title] of the product, on its page */
function showCrumbs(category, title) {
  const above = [{ id: "", name: "Shop" }, ...(category ? [...category.breadcrumb, ...(title ? [category] : [])] : [])];
  const links = above.map(({ id, name }) => h("li", {}, h("a", { href: id ? `${SHOP}?category=${id}` : SHOP }, name)));
  const last = title || category?.name;
  one("#crumbs").replaceChildren(...(last ? [...links, h("li", { "aria-current": "page" }, last)] : []));
}

async function showTree() {
  /** @type {Schemas["CategoriesAnswer"]} */
  const { categories } = await get("/categories?depth=12");
  const shown = new URLSearchParams(location.search).get("category");
  /** @param {string | null} parent @returns {HTMLElement | null} */
  const below = (parent) => {
    const here = categories.filter((each) => each.parent === parent);
    return here.length ? h("ul", {}, ...here.map(({ id, name }) => h("li", {},
      h("a", { href: `${SHOP}?category=${id}`, "aria-current": id === shown && "page" }, name), below(id)))) : null;
  };
  one("#categories").replaceChildren(below(null) || "");
}

/** @param {readonly Schemas["FacetAnswer"][]} facets */
function showFacets(facets) {
  const query = new URLSearchParams(location.search);
  const focused = document.activeElement?.id;
  const sets = facets.map(({ name, values }) => {
    const chosen = new Set(query.getAll(`f.${name}`));
    const rows = values.map(({ value, products }) => {
      const text = String(value);
      const toggle = () => {
        if (!chosen.delete(text)) chosen.add(text);
        go({ [`f.${name}`]: [...chosen] });
      };
      const id = `facet-${name}-${encodeURIComponent(text)}`;
      return h("label", {}, h("input", { type: "checkbox", id, checked: chosen.has(text), onchange: toggle }), h("span", { dir: "auto" }, text), " ", h("small", {}, String(products)));
    });
    return h("fieldset", {}, h("legend", {}, name[0].toUpperCase() + name.slice(1)), ...rows);
  });
  one("#facets").replaceChildren(...sets);
  one("#narrow").hidden = !sets.length;
  if (focused) document.getElementById(focused)?.focus();
}

/** Show the list of the page's address. @param {string | null} [cursor] of the next page */
async function showList(cursor = null) {
  const mine = ++turn;
  const query = new URLSearchParams(location.search);
  const category = query.get("category");
  query.set("limit", String(PAGE));
  if (cursor) query.set("cursor", cursor);
  else query.set("facets", "1");
  /** @type {[Schemas["ProductsAnswer"], Schemas["CategoryPageAnswer"] | null]} */
  const [answer, place] = await Promise.all([get(`/products?${query}`), category && !cursor ? get(`/categories/${category}`) : null]);
  if (mine !== turn) return;
  const list = one("#products");
  const fresh = answer.products.map(card);
  if (cursor) list.append(...fresh);
  else {
    list.replaceChildren(...fresh);
    showCrumbs(place);
    one("#shop-title").textContent = place?.name || "The harbour shop";
    showFacets(answer.facets || []);
    one("#told").textContent = answer.counted === 1 ? "1 product" : `${answer.counted} products`;
  }
  const more = one("#more");
  more.hidden = !answer.next;
  more.onclick = () => tried(() => showList(answer.next));
  if (cursor) /** @type {HTMLElement | null | undefined} */ (fresh[0]?.querySelector("h2 a"))?.focus();
  await showStock();
}

/** Show the list with other choices, without loading the page. @param {Record<string, string | string[]>} change */
function go(change) {
  history.pushState(null, "", address(change));
  return tried(showList);
}

function listenToSearch() {
  const words = /** @type {HTMLInputElement} */ (one("#q"));
  const order = /** @type {HTMLSelectElement} */ (one("#order"));
  const read = () => {
    const query = new URLSearchParams(location.search);
    words.value = query.get("q") || "";
    order.value = query.get("order") || (words.value ? "best" : "newest");
    /** @type {HTMLOptionElement} */ (order.options[3]).disabled = !words.value;
  };
  read();
  one("#search").addEventListener("submit", (event) => {
    event.preventDefault();
    go({ q: words.value.trim(), order: "" }).then(read);
  });
  order.addEventListener("change", () => go({ order: order.value }));
  addEventListener("popstate", () => { read(); tried(showList); });
}

/** @param {string} html that the API has sanitised */
function text(html) {
  const policy = window.trustedTypes?.createPolicy("shop", { createHTML: (given) => given });
  const made = h("div", { class: "text", dir: "auto" });
  made.innerHTML = policy ? policy.createHTML(html) : html;
  return made;
}

/** @param {string} id */
async function showProduct(id) {
  /** @type {Schemas["ProductAnswer"]} */
  const product = await get(`/products/${id}`);
  const [category] = product.categories;
  showCrumbs(category ? await get(`/categories/${category}`) : null, product.title);
  document.title = `${product.title} · The Harbour Post`;
  const details = Object.entries(product.details).map(([name, value]) => h("div", {},
    h("dt", {}, name.replaceAll("_", " ")), h("dd", { dir: "auto" }, [value].flat().join(", "))));
  one("#product").replaceChildren(
    h("h1", { dir: "auto" }, product.title), picture(product), text(product.html),
    h("ul", { class: "skus", "aria-label": "What there is of it" }, ...product.skus.map((sku) => offer(product, sku, "li"))),
    h("dl", {}, ...details));
  await showStock();
}

/** Run an act, and show the message of its error. @param {() => Promise<void>} act */
async function tried(act) {
  try {
    await act();
  } catch (error) {
    one("#told").textContent = error instanceof Error ? error.message : String(error);
  }
}

document.addEventListener("plaza:cart", (event) => {
  const { units } = /** @type {CustomEvent} */ (event).detail;
  one("#cart-link").textContent = units ? `Cart (${units})` : "Cart";
  tried(showStock);
});
customElements.whenDefined("plaza-cart").then(() => {
  hasCart = true;
  for (const button of document.querySelectorAll("[data-plaza-buy]")) button.removeAttribute("disabled");
  tried(showStock);
});
tried(showTree);
if (productId) tried(() => showProduct(productId));
else {
  listenToSearch();
  tried(showList);
}
