// @ts-check
/** A payment on its way: handed to the page, and looked at until it is decided. */
import { isOpen } from "./cart-order.js";
import { tell } from "./element.js";

/** @typedef {import("./cart-order.js").Checkout} Checkout */

/**
 * The wait for the first look at a Stripe payment (none at others), the least wait for each later
 * look, and the longest.
 */
const LOOK_MS = 3_000;
const LOOK_AGAIN_MS = 1_500;
const LONGEST_LOOK_MS = 30_000;

/** Hand a payment to the page, which has it confirmed by its provider's own script. @param {Element} element @param {Checkout} checkout @param {() => Promise<void>} look */
export function handOver(element, { order, payment }, look) {
  if (!payment) return;
  const { provider, client_secret: clientSecret, redirect_url: redirectUrl } = payment;
  const { id, total_micros: totalMicros, currency } = order;
  tell(element, "payment", { order: id, provider, clientSecret, redirectUrl, totalMicros, currency, look });
}

/** Look at a payment, ever less often, while it is shown and undecided; not in the background. @param {Checkout} begun @param {() => Checkout | null} shown What the page shows now. @param {() => Promise<void>} look */
export async function watch({ order, payment }, shown, look) {
  const isShown = () => {
    const now = shown()?.order;
    return now?.id === order.id && isOpen(now);
  };
  let wait = payment?.provider === "stripe" ? LOOK_MS : 0;
  while (isShown()) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    if (isShown() && !document.hidden) await look();
    wait = Math.min(Math.max(LOOK_AGAIN_MS, 1.5 * wait), LONGEST_LOOK_MS);
  }
}
