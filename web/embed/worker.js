// @ts-check
/**
 * Code for a site's own service worker: shows push messages, and opens their pages.
 *
 *     importScripts("https://plaza.example/web/v1/worker.js");
 */

/** `self` without a type: the type check knows the globals of pages alone. */
const worker = /** @type {any} */ (self);

/** @typedef {{kind: string, title: string, body: string, url: string, tag: string, lang: string, dir: NotificationDirection}} Push */

/** Plaza's message; null for one of the site's own. @param {any} data @returns {Push | null} */
function read(data) {
  try {
    const told = data.json();
    return typeof told.kind === "string" && typeof told.title === "string" && typeof told.tag === "string" ? told : null;
  } catch {
    return null;
  }
}

/**
 * Focus the window that shows a URL, or open one; the worker's scope for a URL other than http(s).
 * @param {string} url
 */
async function show(url) {
  if (!/^https?:/.test(url)) url = worker.registration.scope;
  const open = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const there = open.find((/** @type {any} */ each) => each.url === url);
  return there ? there.focus() : worker.clients.openWindow(url);
}

worker.addEventListener("push", (/** @type {any} */ event) => {
  const told = read(event.data);
  if (!told) return;
  const { title, body, tag, lang, dir, url } = told;
  event.waitUntil(worker.registration.showNotification(title, { body, tag, lang, dir, data: { plaza: url } }));
});

worker.addEventListener("notificationclick", (/** @type {any} */ event) => {
  const url = event.notification.data?.plaza;
  if (typeof url !== "string") return;
  event.notification.close();
  event.waitUntil(show(url));
});
