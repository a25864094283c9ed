// @ts-check
/** Calls to Plaza's API as the reader whom the page names. */

/** @typedef {Omit<import("./plaza-api.js").components["schemas"]["Problem"], "code"> & {code: string}} ProblemBody */
/** `as` is the subject of the writer's token: a write with another reader's token throws `sign_in_failed`. @typedef {{method?: string, body?: unknown, key?: string, as?: string, anonymous?: boolean, anew?: boolean, keepalive?: boolean, signal?: AbortSignal}} Options */

/** Seconds before a token's expiry at which the page is asked for another. */
const EARLY = 60;
/** After this time a call counts as failed: longer than the API itself takes. */
const CALL_MS = 35_000;
/** A page fails after PAGE_MS of silence; for PAUSE_MS after any failure, reading asks no more. */
const PAGE_MS = 10_000;
const PAUSE_MS = 5_000;

/** A failure with the API's stable code; `offline` if there was no answer, `sign_in_failed` if the page could not say who calls. */
export class Problem extends Error {
  /** @param {Partial<ProblemBody>} body @param {Response} [response] */
  constructor(body, response) {
    super(body.title);
    this.code = body.code || "offline";
    this.body = body;
    this.response = response;
  }
}

/** @typedef {{text: string | null, exp: number, sub: string}} Held */
/** @type {Held} */
const GUEST = { text: null, exp: 0, sub: "" };
/** The reader while the page fails to name one; never stored in `held`. @type {Held} */
const UNKNOWN = { ...GUEST };
/** @type {Held | null} */
let held = null;
/** @type {Promise<Held> | null} */
let asking = null;
let failedAt = -Infinity;
/** Counts sign-ins and sign-outs, so that no late answer names an earlier reader. */
let turn = 0;

/** Read a token without verifying it, as only the server does; GUEST for none. Throws if malformed. @param {string | null | undefined} text @returns {Held} */
function read(text) {
  if (!text) return GUEST;
  const { exp, sub } = JSON.parse(atob(text.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));
  return { text, exp: Number(exp) || 0, sub: String(sub) };
}

/** The token where the page names no reader; "" without one. @type {() => string} */
let tokenOfGuest = () => "";

/** Call as a guest where the page knows no reader. @param {() => string} token */
export function admitGuests(token) {
  tokenOfGuest = token;
}

/** Get a token from the page's function or a <meta>'s address; null for a guest. Throws if it fails. */
async function askPage() {
  const own = window.plaza?.token;
  if (own) return own();
  const address = /** @type {HTMLMetaElement | null} */ (document.querySelector('meta[name="plaza-token-url"]'))?.content;
  const answer = address && (await fetch(address, { credentials: "same-origin" }));
  if (!answer || answer.status === 204) return null;
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  return (await answer.json()).token;
}

/** The reader as the page names them; if it fails, the last named reader, or UNKNOWN. @param {boolean} isPressed Whether the reader waits: the page is then asked even just after a failure. @returns {Promise<Held>} */
async function reader(isPressed) {
  if (held && (!held.text || held.exp - EARLY > Date.now() / 1000)) return held;
  if (!isPressed && performance.now() - failedAt < PAUSE_MS) return held || UNKNOWN;
  const mine = (asking ||= askPage().then((text) => read(text || tokenOfGuest())));
  try {
    const answer = await Promise.race([mine, new Promise((_, refuse) => setTimeout(refuse, PAGE_MS, "no answer"))]);
    if (asking === mine) held = answer;
  } catch (error) {
    if (asking === mine) {
      failedAt = performance.now();
      console.warn("The page's token:", error);
      // An answer that comes late counts, unless another reader has come.
      const asked = turn;
      mine.then((answer) => { if (asked === turn) held = answer; }, () => {});
    }
  }
  // Another reader may have signed in while the page was asked.
  if (asking !== mine) return reader(false);
  asking = null;
  return held || UNKNOWN;
}

/** The subject of the reader's token, not always the API's id; "" for a guest, null if the page fails. @param {boolean} [isPressed] */
export async function readerId(isPressed = false) {
  const known = await reader(isPressed);
  return known === UNKNOWN ? null : known.sub;
}

/** Forget the token, since the reader has signed in or out. */
export function forget() {
  held = asking = null;
  failedAt = -Infinity;
  turn++;
}

/**
 * The token for a call; null for a guest. If the page fails, its last token; without one, null for
 * reading, and a write throws Problem. A write throws also for a token of another reader than `as`.
 * @param {Options} options
 */
async function bearerOf({ anonymous, method, as }) {
  if (anonymous) return null;
  const known = await reader(!!method);
  // Another reader may have signed in since, also in another tab.
  if (method && (known === UNKNOWN || (as && known.text && known.sub !== as))) throw new Problem({ code: "sign_in_failed" });
  return known.text;
}

/**
 * Make a call; return its JSON, null for 204. Throws Problem, or the error of an aborted `signal`.
 * After a 401, asks the page for another token; if the page has no other, or the API refuses that
 * too, a call without a method goes on as a guest.
 * @param {string} base @param {string} path @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function call(base, path, options = {}) {
  try {
    const bearer = await bearerOf(options);
    let response = await send(base + path, options, bearer);
    if (response.status === 401 && bearer) {
      if (held?.text === bearer) held = null;
      const again = await bearerOf(options);
      if (again && again !== bearer) response = await send(base + path, options, again);
      if (response.status === 401 && !options.method) response = await send(base + path, options, null);
    }
    if (!response.ok) throw new Problem(await response.json().catch(() => ({ code: "unavailable" })), response);
    return response.status === 204 ? null : await response.json();
  } catch (error) {
    // No answer came, or it was incomplete or not Plaza's.
    throw error instanceof Problem || options.signal?.aborted ? error : new Problem({});
  }
}

/** @param {string} url @param {Options} options @param {string | null} bearer */
function send(url, { body, key, as, anew, signal, ...init }, bearer) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (bearer) headers.Authorization = `Bearer ${bearer}`;
  if (key) headers["Idempotency-Key"] = key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return fetch(url, {
    ...init,
    headers,
    signal: AbortSignal.any([AbortSignal.timeout(CALL_MS), ...(signal ? [signal] : [])]),
    credentials: "omit",
    // The browser sends the entity tag of what it has kept, and gets a 304 if nothing changed.
    cache: anew ? "no-cache" : "default",
    body: JSON.stringify(body),
  });
}
