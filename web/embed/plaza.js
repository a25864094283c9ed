// @ts-check
/**
 * Plaza's embed: the only script that a page names. It registers the elements, and loads the files
 * of an element when the element comes near the view.
 *
 *     <script type="module" async src="https://plaza.example/web/v1/plaza.js"></script>
 *     <plaza-comments node="harbour:moon"></plaza-comments>
 */

/** The files behind the elements; the build writes the addresses of this release. */
const FILES = /** @type {Record<string, string>} */ (BUILT_FILES);

/** The file that all elements share, and `scheme.js`, for elements with colours of their own. */
const BASE = BUILT_BASE;
const SCHEME = BUILT_SCHEME;
/** The pause between a failed load and the next attempt. */
const AGAIN_MS = 5_000;
const COLOURED = /bell|cart|comments|feed|watch/;
/** @type {typeof import("./scheme.js") | null} */
let scheme = null;

/** Resolves once the page is parsed: until then, its own scripts may still name the reader. */
const parsed = document.readyState === "loading" && new Promise((resolve) => document.addEventListener("DOMContentLoaded", resolve));
/** Elements in the page whose files are not loaded yet. @type {Set<Waiting>} */
const waiting = new Set();
/** An element starts to load at this distance from the view. */
const near = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) if (isIntersecting) load(target);
}, { rootMargin: "600px 0px" });

/** An element before its file is loaded, wherever in the page, also inside another component. */
class Waiting extends HTMLElement {
  connectedCallback() {
    if (!(this instanceof Waiting)) {
      dye(this);
      return /** @type {any} */ (this).connectedCallback();
    }
    waiting.add(this);
    meet(this);
  }

  disconnectedCallback() {
    if (!(this instanceof Waiting)) return /** @type {any} */ (this).disconnectedCallback();
    waiting.delete(this);
    near.unobserve(this);
  }

  /** Load the cart, then call its own `add`. @param {unknown[]} given */
  async add(...given) {
    await load(this);
    return /** @type {any} */ (this).add(...given);
  }
}

/** Have an element follow the page's colours. @param {HTMLElement} element */
function dye(element) {
  if (scheme && COLOURED.test(element.localName)) scheme.followPage(element);
}

/**
 * Turn an element into the class of its name, once. If a file fails to load, rejects, and
 * tries again after AGAIN_MS.
 * @param {any} element
 */
function load(element) {
  near.unobserve(element);
  return (element.loads ||= become(element).catch((error) => {
    element.loads = null;
    setTimeout(meet, AGAIN_MS, element);
    throw error;
  }));
}

/**
 * Files in the browser's cache, or being fetched; null after a failure.
 * @type {Record<string, Promise<unknown> | null>}
 */
const brought = {};
/** Whether the page's security policy bars `fetch` from this server; it may still allow imports. */
let isBarred = false;
addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) => {
  isBarred ||= effectiveDirective === "connect-src" && blockedURI.startsWith(new URL(import.meta.url).origin);
});

/**
 * Fetch a file into the cache before its import: a browser never retries a failed import.
 * @param {string} file
 */
function bring(file) {
  return (brought[file] ||= fetch(new URL(file, import.meta.url)).then((answer) => {
    if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
    return answer.blob();
  }).catch(async (error) => {
    // The event `securitypolicyviolation` follows the failure a moment later.
    await new Promise((told) => setTimeout(told));
    if (isBarred) return;
    brought[file] = null;
    throw error;
  }));
}

/** @param {HTMLElement} element */
async function become(element) {
  const name = element.localName;
  await Promise.all([
    bring(FILES[name]), bring(BASE), COLOURED.test(name) && import(SCHEME).then((loaded) => { scheme = loaded; }, () => {}),
  ]);
  const { default: Kind } = await import(FILES[name]);
  dye(element);
  waiting.delete(/** @type {Waiting} */ (element));
  // The browser goes on calling the callbacks of Waiting, and Waiting passes the calls on.
  Object.setPrototypeOf(element, Kind.prototype);
  new Kind(element).connectedCallback();
}

/**
 * Whether the element is a discussion, and the page's address leads to a comment or back from a
 * sign-in: the discussion then loads at any distance.
 * @param {Element} element
 */
const isLinked = ({ localName }) => localName === "plaza-comments" && /^#plaza-|[?&]plaza=/.test(location.hash + location.search);

/** @param {Waiting} element */
async function meet(element) {
  await parsed;
  if (!waiting.has(element)) return;
  if (element.getAttribute("loading") === "eager" || isLinked(element)) load(element);
  else near.observe(element);
}

addEventListener("hashchange", () => waiting.forEach(meet));
// A press on a buy button before the cart is loaded.
addEventListener("click", (event) => {
  const button = event.composedPath().find((each) => each instanceof Element && each.matches("[data-plaza-buy]"));
  if (button) waiting.forEach((each) => each.localName === "plaza-cart" && load(each).then(() => /** @type {any} */ (each).buy(button, event)));
});
for (const name in FILES) if (!customElements.get(name)) customElements.define(name, class extends Waiting {});
