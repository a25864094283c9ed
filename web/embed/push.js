// @ts-check
/** A reader's notifications as push messages of this browser: readers who ask for them load it. */
import { h } from "./element.js";
import { withMatters } from "./matters.js";
import { showForm } from "./panel-form.js";
import { writePushMark } from "./push-mark.js";
import { timeZone } from "./time-zone.js";
import push from "./words/en/push.js";

/** @typedef {import("./plaza-api.js").components["schemas"]["PushBrowsersAnswer"]} Browsers */
/** @typedef {"unsupported" | "denied" | "off_here" | "on"} State */
/**
 * @typedef {object} Place Where a reader's push messages come from, and what shows them.
 * @property {string} inbox Whose, among all readers.
 * @property {string} worker The address of the page's service worker.
 * @property {import("./inbox.js").Desk["call"]} call
 * @property {string} language
 */

const PATH = "/notifications/push";
/** @type {any} */
let policy;

/** A page may take the address of a script by a policy alone. @param {string} url */
function address(url) {
  policy ||= /** @type {any} */ (window).trustedTypes?.createPolicy("plaza-push", { createScriptURL: (/** @type {string} */ own) => own });
  return policy ? policy.createScriptURL(url) : url;
}

/** How Plaza names a subscription. @param {string} endpoint */
async function idOf(endpoint) {
  const hash = await crypto.subtle?.digest("SHA-256", new TextEncoder().encode(endpoint));
  return btoa(String.fromCharCode(...new Uint8Array(hash))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}

/** The worker once it is at work: before, a browser takes no subscription. @param {ServiceWorkerRegistration} registration @returns {Promise<ServiceWorkerRegistration>} */
const atWork = (registration) => new Promise((resolve, reject) => {
  const coming = registration.installing || registration.waiting;
  if (registration.active || !coming) return resolve(registration);
  coming.addEventListener("statechange", () => {
    if (coming.state === "activated") resolve(registration);
    if (coming.state === "redundant") reject(new Error("The page's service worker ended"));
  });
});

/** The browser's own subscription. @param {string} worker */
async function find(worker) {
  const registration = await navigator.serviceWorker?.getRegistration(new URL(worker, document.baseURI));
  return registration?.pushManager.getSubscription();
}

/** Subscribe anew, and have Plaza know it; throws what either refuses. @param {Place} place */
async function subscribe(place) {
  const { key } = await place.call(`${PATH}/key`);
  const url = new URL(place.worker, document.baseURI).href;
  const registration = await atWork(await navigator.serviceWorker?.register(address(url)));
  // One of an earlier key of the deployment would get nothing.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  await put(subscription, place).catch(async (error) => {
    await subscription.unsubscribe();
    throw error;
  });
}

/** Have Plaza know a subscription. @param {PushSubscription} subscription @param {Place} place */
async function put(subscription, { inbox, call, language }) {
  const { endpoint } = subscription;
  const { keys = {} } = subscription.toJSON();
  const body = { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth }, language, time_zone: timeZone() };
  await call(PATH, { method: "PUT", body });
  writePushMark({ inbox, endpoint, zone: body.time_zone });
}

/**
 * End the push messages of a reader who has left this browser, or renew those of the reader who is here: a browser may change
 * or drop a subscription by itself.
 * @param {import("./push-mark.js").PushMark} mark @param {Place} place
 */
export async function keepUp(mark, place) {
  const subscription = await find(place.worker);
  if (mark.inbox !== place.inbox) {
    // The push service refuses Plaza's next message, and Plaza deletes the subscription.
    await subscription?.unsubscribe();
    writePushMark(null);
  } else if (subscription) {
    if (subscription.endpoint === mark.endpoint && mark.zone === timeZone()) return;
    await put(subscription, place).catch((error) => {
      // A deployment that refuses would do so at each page; what is down or busy may take it by then.
      const status = error.response?.status;
      if (status < 500 && ![401, 408, 429].includes(status)) writePushMark({ ...mark, endpoint: subscription.endpoint, zone: timeZone() });
      throw error;
    });
  } else {
    // Once: a browser or a deployment that refuses would do so at each page.
    writePushMark(null);
    if (window.Notification?.permission === "granted") await subscribe(place);
  }
}

/**
 * Find out whether this browser has push messages of the reader, and return what shows it in a panel; throws when that fails.
 * @param {HTMLElement} panel @param {import("./inbox.js").Desk} desk @param {HTMLElement} button It leads here, and has the focus afterwards.
 */
export async function prepare(panel, { call, inbox, words, worker }, button) {
  const { language, reason, t } = await withMatters(words, { push });
  const isAble = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  const status = h("p", { role: "status" });
  const refusal = h("p", { role: "alert" });
  const toggle = h("button", { class: "more", part: "button primary", onclick: change });
  /** @type {State} */
  let state = "unsupported";
  let isSending = false;

  /** @returns {Promise<State>} */
  async function read() {
    if (!isAble) return "unsupported";
    if (Notification.permission === "denied") return "denied";
    const subscription = await find(worker);
    /** @type {Browsers} */
    const { browsers } = await call(`${PATH}/browsers`, { anew: true });
    if (!subscription) return "off_here";
    // The browser may have been another reader's since.
    const id = await idOf(subscription.endpoint);
    const own = browsers.find((each) => each.id === id);
    // Of a browser that Plaza has let go, no page puts it back.
    writePushMark(own ? { inbox, endpoint: subscription.endpoint, zone: own.time_zone } : null);
    return own ? "on" : "off_here";
  }

  /** @param {State} now */
  function show(now) {
    state = now;
    status.textContent = t(`push_${now}`);
    toggle.hidden = now === "unsupported" || now === "denied";
    toggle.textContent = t(now === "on" ? "pushSwitchOff" : "pushSwitchOn");
  }

  /** @returns {Promise<State>} */
  async function switchOn() {
    if ((await Notification.requestPermission()) !== "granted") return Notification.permission === "denied" ? "denied" : "off_here";
    await subscribe({ inbox, worker, call, language });
    return "on";
  }

  /** @returns {Promise<State>} */
  async function switchOff() {
    const subscription = await find(worker);
    if (subscription) {
      await call(`${PATH}/browsers/${await idOf(subscription.endpoint)}`, { method: "DELETE" });
      await subscription.unsubscribe();
    }
    writePushMark(null);
    return "off_here";
  }

  async function change() {
    if (isSending) return;
    isSending = true;
    refusal.textContent = "";
    try {
      show(await (state === "on" ? switchOff() : switchOn()));
    } catch (error) {
      // A browser says in its own words why it subscribes for nothing.
      refusal.textContent = error instanceof DOMException ? t("pushFailed", { reason: error.message }) : reason(error);
    }
    isSending = false;
  }

  show(await read());
  return () => {
    showForm(panel, button, t("pushTitle"), t("pushBack"), status, toggle, refusal);
    (toggle.hidden ? panel : toggle).focus();
  };
}
