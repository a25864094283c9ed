// @ts-check
/**
 * Push messages of a reader's notifications in this browser; loaded when the reader opens their
 * form, and by the bell if this browser has a push mark.
 */
import { h } from "./element.js";
import { withMatters } from "./matters.js";
import { showForm } from "./panel-form.js";
import { writePushMark } from "./push-mark.js";
import { timeZone } from "./time-zone.js";
import push from "./words/en/push.js";

/** @typedef {import("./plaza-api.js").components["schemas"]["PushBrowsersAnswer"]} Browsers */
/** @typedef {"unsupported" | "denied" | "off_here" | "on"} State */
/**
 * @typedef {object} Place The inbox of push messages, and the worker that shows them.
 * @property {string} inbox Names the reader among those of all deployments.
 * @property {string} worker The address of the page's service worker.
 * @property {import("./inbox.js").Desk["call"]} call
 * @property {string} language
 */

const PATH = "/notifications/push";
/** @type {any} */
let policy;

/**
 * Return a script's address as a trusted type, where the browser has them: a page may require it.
 * @param {string} url
 */
function address(url) {
  policy ||= /** @type {any} */ (window).trustedTypes?.createPolicy("plaza-push", { createScriptURL: (/** @type {string} */ own) => own });
  return policy ? policy.createScriptURL(url) : url;
}

/**
 * Return Plaza's id of a subscription: the SHA-256 of its endpoint in base64url.
 * @param {string} endpoint
 */
async function idOf(endpoint) {
  const hash = await crypto.subtle?.digest("SHA-256", new TextEncoder().encode(endpoint));
  return btoa(String.fromCharCode(...new Uint8Array(hash))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");
}

/**
 * Wait until a service worker is active: before, a browser refuses to subscribe. May reject.
 * @param {ServiceWorkerRegistration} registration @returns {Promise<ServiceWorkerRegistration>}
 */
const atWork = (registration) => new Promise((resolve, reject) => {
  const coming = registration.installing || registration.waiting;
  if (registration.active || !coming) return resolve(registration);
  coming.addEventListener("statechange", () => {
    if (coming.state === "activated") resolve(registration);
    if (coming.state === "redundant") reject(new Error("The page's service worker ended"));
  });
});

/** Find the browser's subscription; null or undefined if there is none. @param {string} worker */
async function find(worker) {
  const registration = await navigator.serviceWorker?.getRegistration(new URL(worker, document.baseURI));
  return registration?.pushManager.getSubscription();
}

/** Subscribe anew and register it at Plaza; throws the error of either. @param {Place} place */
async function subscribe(place) {
  const { key } = await place.call(`${PATH}/key`);
  const url = new URL(place.worker, document.baseURI).href;
  const registration = await atWork(await navigator.serviceWorker?.register(address(url)));
  // A subscription by an earlier key of the deployment would receive nothing.
  await (await registration.pushManager.getSubscription())?.unsubscribe();
  const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
  await put(subscription, place).catch(async (error) => {
    await subscription.unsubscribe();
    throw error;
  });
}

/**
 * Register a subscription at Plaza, and mark it.
 * @param {PushSubscription} subscription @param {Place} place
 */
async function put(subscription, { inbox, call, language }) {
  const { endpoint } = subscription;
  const { keys = {} } = subscription.toJSON();
  const body = { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth }, language, time_zone: timeZone() };
  await call(PATH, { method: "PUT", body });
  writePushMark({ inbox, endpoint, zone: body.time_zone });
}

/**
 * End the push messages of a reader who has left this browser, or renew those of the present
 * reader: a browser may change or drop a subscription by itself.
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
      // A deployment that refuses would do so at each page; a failing or busy one may accept later.
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
 * Read the state of the reader's push messages in this browser, and return a function that shows
 * the form in a panel; throws if the state cannot be read.
 * @param {HTMLElement} panel
 * @param {import("./inbox.js").Desk} desk
 * @param {HTMLElement} button Opens the form; it takes the focus when the form closes.
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
    // Without a mark, no page registers a browser again that Plaza has removed.
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
      // The browser's own words for its refusal to subscribe.
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
