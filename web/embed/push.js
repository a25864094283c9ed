// @ts-check
/** A reader's notifications as push messages of this browser: readers who ask for them load it. */
import { h } from "./element.js";
import { withMatters } from "./matters.js";
import { showForm } from "./panel-form.js";
import { timeZone } from "./time-zone.js";
import push from "./words/en/push.js";

/** @typedef {import("./plaza-api.js").components["schemas"]["PushBrowsersAnswer"]} Browsers */
/** @typedef {"unsupported" | "denied" | "off_here" | "on"} State */

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

/**
 * Find out whether this browser has push messages of the reader, and return what shows it in a panel; throws when that fails.
 * @param {HTMLElement} panel @param {import("./inbox.js").Desk} desk @param {HTMLElement} button It leads here, and has the focus afterwards.
 */
export async function prepare(panel, { call, words, worker }, button) {
  const { language, reason, t } = await withMatters(words, { push });
  const url = new URL(worker, document.baseURI).href;
  const isAble = "serviceWorker" in navigator && "PushManager" in window && "Notification" in window;
  const status = h("p", { role: "status" });
  const refusal = h("p", { role: "alert" });
  const toggle = h("button", { class: "more", part: "button primary", onclick: change });
  /** @type {State} */
  let state = "unsupported";
  let isSending = false;

  /** The browser's own subscription. */
  async function find() {
    const registration = await navigator.serviceWorker?.getRegistration(url);
    return registration?.pushManager.getSubscription();
  }

  /** @returns {Promise<State>} */
  async function read() {
    if (!isAble) return "unsupported";
    if (Notification.permission === "denied") return "denied";
    const subscription = await find();
    /** @type {Browsers} */
    const { browsers } = await call(`${PATH}/browsers`, { anew: true });
    if (!subscription) return "off_here";
    // The browser may have been another reader's since.
    const id = await idOf(subscription.endpoint);
    return browsers.some((each) => each.id === id) ? "on" : "off_here";
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
    const { key } = await call(`${PATH}/key`);
    const registration = await atWork(await navigator.serviceWorker?.register(address(url)));
    // One of an earlier key of the deployment would get nothing.
    await (await registration.pushManager.getSubscription())?.unsubscribe();
    const subscription = await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
    const { endpoint, keys = {} } = subscription.toJSON();
    const body = { endpoint, keys: { p256dh: keys.p256dh, auth: keys.auth }, language, time_zone: timeZone() };
    try {
      await call(PATH, { method: "PUT", body });
    } catch (error) {
      await subscription.unsubscribe();
      throw error;
    }
    return "on";
  }

  /** @returns {Promise<State>} */
  async function switchOff() {
    const subscription = await find();
    if (subscription) {
      await call(`${PATH}/browsers/${await idOf(subscription.endpoint)}`, { method: "DELETE" });
      await subscription.unsubscribe();
    }
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
