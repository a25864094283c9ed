// @ts-check
/** Renewal of relative times ("2 minutes ago") while a page is open. */
import { ago } from "./times.js";

const EVERY_MS = 60_000;
/** The elements whose times are renewed. @type {WeakSet<ShadowRoot>} */
const renewed = new WeakSet();

/** Renew an element's times each minute while it is in the page. @param {ShadowRoot} root */
export function renewTimes(root) {
  if (renewed.has(root)) return;
  renewed.add(root);
  renew(root);
  const timer = setInterval(() => {
    if (root.host.isConnected) return renew(root);
    clearInterval(timer);
    renewed.delete(root);
  }, EVERY_MS);
}

/** @param {ShadowRoot} root */
function renew(root) {
  for (const each of root.querySelectorAll("time[lang]")) {
    const said = ago(/** @type {HTMLTimeElement} */ (each).dateTime, /** @type {HTMLElement} */ (each).lang);
    if (each.textContent !== said) each.textContent = said;
  }
}
