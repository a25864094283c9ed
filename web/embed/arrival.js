// @ts-check
/** Where the address of a page leads: to a comment, on a page that goes on changing. */

/** So long a comment stays in view while pictures and ads come above it. */
const HELD_MS = 20_000;
/** By these the reader has gone on. */
const ACTS = ["wheel", "touchstart", "pointerdown", "keydown"];

/** The id of the comment that the page's address names. */
export const idInAddress = () => location.hash.match(/^#plaza-([\w-]+)$/)?.[1];

/** Bring an element into view, and keep it there until the reader goes on. @param {HTMLElement} target @param {AbortSignal} alive */
export function arriveAt(target, alive) {
  // At once, also where the page's own style makes scrolling smooth.
  const show = () => target.scrollIntoView({ block: "center", behavior: "instant" });
  const moves = new ResizeObserver(show);
  const over = new AbortController();
  const leave = () => {
    moves.disconnect();
    over.abort();
  };
  for (const act of ACTS) addEventListener(act, leave, { capture: true, passive: true, signal: over.signal });
  alive.addEventListener("abort", leave, { signal: over.signal });
  setTimeout(leave, HELD_MS);
  // Whoever reads with a keyboard or a screen reader goes on from there, unless they are elsewhere already.
  if (document.activeElement === document.body) target.focus({ preventScroll: true });
  moves.observe(document.body);
  show();
}
