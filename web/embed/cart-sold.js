// @ts-check
/** Buttons of what is sold out: they cannot be pressed, and say so in their reader's language. */
import { cartWords } from "./cart-words.js";

/** The own text and label of a marked button. @type {WeakMap<HTMLButtonElement, {text: string, label: string | null}>} */
const before = new WeakMap();

/** @param {HTMLButtonElement} button @param {boolean} isSoldOut @param {import("./cart-words.js").CartWords["t"]} t */
function mark(button, isSoldOut, t) {
  const own = before.get(button);
  if (isSoldOut) {
    if (!own) before.set(button, { text: button.textContent || "", label: button.getAttribute("aria-label") });
    button.disabled = true;
    button.textContent = t("noneLeft");
    button.setAttribute("aria-label", t("soldOut", { title: button.dataset.plazaTitle || button.dataset.plazaBuy || "" }));
  } else if (own) {
    before.delete(button);
    button.disabled = false;
    button.textContent = own.text;
    if (own.label === null) button.removeAttribute("aria-label");
    else button.setAttribute("aria-label", own.label);
  }
}

/**
 * At each event `plaza:stock` that the page dispatches on the document, mark buttons of sold-out
 * SKUs, and unmark buttons of SKUs with units left; the event's detail maps SKUs to units left.
 * @param {HTMLElement} cart @param {AbortSignal} signal
 */
export function markSoldOut(cart, signal) {
  /** @type {Record<string, number>} */
  let left = {};
  const show = async () => {
    const { t } = await cartWords(cart);
    if (signal.aborted) return;
    for (const button of document.querySelectorAll("button[data-plaza-buy]")) {
      if (!(button instanceof HTMLButtonElement)) continue;
      const { plazaBuy = "", plazaSite } = button.dataset;
      if (plazaBuy in left && (plazaSite || cart.getAttribute("site")) === cart.getAttribute("site")) mark(button, left[plazaBuy] === 0, t);
    }
  };
  document.addEventListener("plaza:stock", (event) => {
    left = { ...left, .../** @type {CustomEvent} */ (event).detail };
    show();
  }, { signal });
  // The cart's language may have changed.
  cart.addEventListener("plaza:ready", show, { signal });
}
