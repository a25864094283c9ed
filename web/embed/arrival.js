// @ts-check
/** Addresses of comments, and where the page's address leads: to a comment, on a page that goes on changing. */

/** How long a comment is held in view while pictures and ads load above it. */
const HELD_MS = 20_000;
/** Events by which the reader goes on; they end the hold. */
const ACTS = ["wheel", "touchstart", "pointerdown", "keydown"];

/** The discussions of this document. @type {Set<Element>} */
const seekers = new Set();
/** The discussions without the comment that the address names. @type {Set<Element>} */
const lacking = new Set();
/** The discussion with the comment. @type {Element | null} */
let owner = null;
/** The id in the address to ignore, since the reader has chosen to read something else. */
let past = "";
let hold = new AbortController();

const idInHash = () => location.hash.match(/^#plaza-([\w-]+)$/)?.[1];
const idInAddress = () => idInHash() || new URLSearchParams(location.search).get("plaza") || "";

/** Whether the page's hash is a route of its application, and cannot name a comment. */
const isRoute = () => location.hash.search(/^#!?[/]/) === 0;

/** The address of a comment: the page's own, also where links have another base. @param {string} id */
export function addressOf(id) {
  const [page] = location.href.split("#");
  if (isRoute()) {
    const address = new URL(location.href);
    address.searchParams.set("plaza", id);
    return address.href;
  }
  return `${document.baseURI.split("#")[0] === page ? "" : page}#plaza-${id}`;
}

/** The link to a comment. @param {string} id @param {string} title @param {Node | string} time */
export function linkTo(id, title, time) {
  const link = document.createElement("a");
  Object.assign(link, { href: addressOf(id), title }).dataset.comment = id;
  link.append(time);
  return link;
}

/** Renew the links of a discussion: the page may have got a route. @param {ParentNode} root */
export function renewLinks(root) {
  for (const link of /** @type {NodeListOf<HTMLAnchorElement>} */ (root.querySelectorAll("a[data-comment]"))) link.setAttribute("href", addressOf(link.dataset.comment || ""));
}

/** Follow a press on a comment's link that the browser would reload or ignore; return whether it did. @param {MouseEvent} event */
export function follow(event) {
  const link = event.target instanceof Element && event.target.closest("a[data-comment]");
  if (!(link instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return false;
  if (!isRoute() && link.href !== location.href) return false;
  event.preventDefault();
  history.replaceState(history.state, "", link.href);
  begin();
  return true;
}

function begin() {
  past = "";
  owner = null;
  lacking.clear();
}

addEventListener("hashchange", () => idInHash() && begin());

/** Let the page's address lead to a discussion until `alive` aborts. @param {Element} discussion @param {AbortSignal} alive */
export function join(discussion, alive) {
  seekers.add(discussion);
  alive.addEventListener("abort", () => {
    seekers.delete(discussion);
    lacking.delete(discussion);
    if (owner === discussion) goOn();
  });
}

/** The id of the comment that a discussion has to show; "" if there is none, or another discussion has it. @param {Element} discussion */
export function idFor(discussion) {
  const id = idInAddress();
  return id === past || (owner && owner !== discussion) ? "" : id;
}

/** Note that a discussion lacks the comment; return whether all do. @param {Element} discussion */
export function isLost(discussion) {
  lacking.add(discussion);
  return [...seekers].every((each) => lacking.has(each));
}

/** Ignore the address's comment: reader or page has chosen another order or discussion. */
export function goOn() {
  past = idInAddress();
  hold.abort();
}

/** Bring an element of a discussion into view, and keep it there until the reader goes on. @param {Element} discussion @param {HTMLElement} target @param {AbortSignal} alive */
export function arriveAt(discussion, target, alive) {
  owner = discussion;
  hold.abort();
  hold = new AbortController();
  const { signal } = hold;
  // At once, also where the page's own style makes scrolling smooth.
  const show = () => target.scrollIntoView({ block: "center", behavior: "instant" });
  const moves = new ResizeObserver(show);
  signal.addEventListener("abort", () => moves.disconnect());
  for (const act of ACTS) addEventListener(act, () => hold.abort(), { capture: true, passive: true, signal });
  alive.addEventListener("abort", () => moves.disconnect(), { signal });
  setTimeout(() => moves.disconnect(), HELD_MS);
  // A keyboard or a screen reader goes on from the target, unless the focus is already elsewhere
  // than at the link that led here.
  if (document.activeElement === document.body || discussion.shadowRoot?.activeElement?.matches("a[data-comment]")) target.focus({ preventScroll: true });
  moves.observe(document.body);
  show();
}
