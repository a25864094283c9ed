// @ts-check
/**
 * Plaza's embed: the only script that a page names. It registers the elements, and loads what one
 * of them needs when it comes near the view.
 *
 *     <script type="module" async src="https://plaza.example/web/v1/plaza.js"></script>
 *     <plaza-comments node="harbour:moon"></plaza-comments>
 */

/** The files behind the elements; the build writes the addresses of this release. */
const FILES = /** @type {Record<string, string>} */ (BUILT_FILES);

/** What finds out whether the page is light or dark, for elements with colours of their own. */
const SCHEME = BUILT_SCHEME;
const COLOURED = ["plaza-cart", "plaza-comments", "plaza-feed"];
/** How far from the view an element starts to load. */
const MARGIN = "600px 0px";

const near = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      near.unobserve(target);
      load(target);
    }
  },
  { rootMargin: MARGIN },
);

/** @param {Element} element */
async function load(element) {
  const name = element.localName;
  const [module, scheme] = await Promise.all([
    import(new URL(FILES[name], import.meta.url).href),
    COLOURED.includes(name) && import(new URL(SCHEME, import.meta.url).href).catch(() => null),
  ]);
  if (scheme) scheme.followPage(element);
  if (!customElements.get(name)) customElements.define(name, module.default);
}

/** Whether the page's address names a comment: wherever the discussion is, that is where it leads. @param {Element} element */
const isLinked = ({ localName }) => localName === "plaza-comments" && location.hash.startsWith("#plaza-");

/** @param {Element} element */
function meet(element) {
  if (element.getAttribute("loading") === "eager" || isLinked(element)) load(element);
  else near.observe(element);
}

/** Watch the elements of a part of the page. @param {ParentNode} root */
function watch(root) {
  root.querySelectorAll(Object.keys(FILES).join()).forEach(meet);
}

if (document.readyState === "loading") {
  document.addEventListener("DOMContentLoaded", () => watch(document));
} else {
  watch(document);
}
addEventListener("hashchange", () => watch(document));
// A page that builds itself: React, Turbo, a reader that scrolls without end.
new MutationObserver((changes) => {
  for (const { addedNodes } of changes) {
    for (const node of addedNodes) {
      if (!(node instanceof Element)) continue;
      if (node.localName in FILES) meet(node);
      else watch(node);
    }
  }
}).observe(document.documentElement, { childList: true, subtree: true });
