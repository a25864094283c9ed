// @ts-check
/** Calls to Plaza's API, as whoever the page says is reading. */

/** @typedef {import("./plaza-api.js").components["schemas"]["Problem"]} ProblemBody */
/** @typedef {{method?: string, body?: unknown, key?: string, anonymous?: boolean, anew?: boolean, signal?: AbortSignal}} Options */

/** Seconds before its end at which a token is asked for anew. */
const EARLY = 60;
/** After this time a call counts as failed: longer than the API itself takes. */
const TIMEOUT_MS = 35_000;

/** A failure with the API's stable code, or `offline` if there was no answer. */
export class Problem extends Error {
  /** @param {Partial<ProblemBody>} body @param {Response} [response] */
  constructor(body, response) {
    super(body.title || "");
    this.code = body.code || "offline";
    this.body = body;
    this.response = response;
  }
}

/** @typedef {{text: string | null, exp: number, sub: string}} Held */
const GUEST = { text: null, exp: 0, sub: "" };
/** @type {Held | null} */
let held = null;
/** @type {Promise<Held> | null} */
let asking = null;

/** What a token says; the server alone judges it. @param {string | null} text @returns {Held} */
function read(text) {
  if (!text) return GUEST;
  try {
    const { exp, sub } = JSON.parse(atob(text.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));
    return { text, exp: Number(exp) || 0, sub: String(sub) };
  } catch {
    return { ...GUEST, text };
  }
}

/** Ask the page who reads: its own function, or the address that a <meta> names. */
async function ask() {
  const own = window.plaza?.token;
  if (own) return (await own()) || null;
  const address = document.querySelector('meta[name="plaza-token-url"]')?.getAttribute("content");
  if (!address) return null;
  const answer = await fetch(address, { credentials: "same-origin" });
  return answer.status === 200 ? (await answer.json()).token || null : null;
}

/** Who reads, as the page says. @returns {Promise<Held>} */
async function reader() {
  if (held && (!held.text || held.exp - EARLY > Date.now() / 1000)) return held;
  const mine = (asking ||= ask().then(read, () => GUEST));
  const answer = await mine;
  // Somebody else may have signed in while the page was asked.
  if (asking !== mine) return reader();
  asking = null;
  return (held = answer);
}

/** The id that the reader's token names; "" for a guest. */
export const readerId = async () => (await reader()).sub;

/** Forget the token, since the reader has signed in or out. */
export function forget() {
  held = asking = null;
}

/**
 * Make a call; throws Problem. A token that is refused is asked for once more; if that one is
 * refused too, a call goes on as a guest's, unless it names its method.
 * @param {string} base @param {string} path @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function call(base, path, options = {}) {
  const bearer = options.anonymous ? null : (await reader()).text;
  let response = await send(base + path, options, bearer);
  if (response.status === 401 && bearer) {
    if (held?.text === bearer) forget();
    const again = (await reader()).text;
    if (again && again !== bearer) response = await send(base + path, options, again);
    else if (!options.method) response = await send(base + path, options, null);
  }
  if (!response.ok) {
    throw new Problem(await response.json().catch(() => ({ code: "unavailable" })), response);
  }
  return response.status === 204 ? null : response.json();
}

/** @param {string} url @param {Options} options @param {string | null} bearer */
function send(url, { method, body, key, anew, signal }, bearer) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (bearer) headers.Authorization = `Bearer ${bearer}`;
  if (key) headers["Idempotency-Key"] = key;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const late = AbortSignal.timeout(TIMEOUT_MS);
  return fetch(url, {
    method,
    headers,
    signal: signal ? AbortSignal.any([signal, late]) : late,
    credentials: "omit",
    // The browser sends the entity tag of what it has kept, and gets a 304 if nothing changed.
    cache: anew ? "no-cache" : "default",
    body: body === undefined ? undefined : JSON.stringify(body),
  }).catch((error) => {
    if (signal?.aborted) throw error;
    throw new Problem({});
  });
}
