// @ts-check
/** Hears of changes: one call asks for all elements of a page, again and again while it is read. */

/** @typedef {import("./plaza-api.js").components["schemas"]["ChangesAnswer"]} Changes */
/**
 * @typedef {object} Topic What an element wants to hear of.
 * @property {string} api
 * @property {() => string} name The topic as the API knows it; "" for none.
 * @property {() => string | null | undefined} known The version that the element shows; null for nothing there, undefined if it does not know.
 * @property {(path: string) => Promise<Changes>} call Calls the API as the element's reader.
 * @property {(changes: Changes, askedAt: number) => void} [changed] Is called when the topic has another version, with the time of the page at which it was asked for.
 */

/** Between two calls while a page is read; the longer times while it only lies open, or no call succeeds. */
const READ_MS = 8_000;
const MOST_MS = 300_000;
/** A page whose reader does nothing for so long only lies open. */
const READING_MS = 120_000;
/** Topics that one call may ask for. */
const MOST = 20;
const SIGNS = ["keydown", "pointerdown", "pointermove", "scroll", "wheel"];

/** @type {Map<string, (topic: Topic, signal: AbortSignal) => void>} */
const pages = new Map();

/** Hear of a topic until the signal. @param {Topic} topic @param {AbortSignal} signal */
export function hear(topic, signal) {
  const { api } = topic;
  if (!pages.has(api)) pages.set(api, begin());
  /** @type {(topic: Topic, signal: AbortSignal) => void} */ (pages.get(api))(topic, signal);
}

/** Begin to ask an API for what the elements of this page want to hear of. */
function begin() {
  /** The topics, and whether there was anything when they were last asked for. @type {Map<Topic, boolean>} */
  const topics = new Map();
  let wait = READ_MS;
  let readAt = performance.now();
  let askedAt = -Infinity;
  let hasFailed = false;
  let isAsking = false;
  let timer = 0;

  async function turn() {
    clearTimeout(timer);
    if (document.hidden || isAsking || !topics.size) return;
    isAsking = true;
    askedAt = performance.now();
    hasFailed = await ask(topics).then(() => false, () => true);
    isAsking = false;
    const isRead = performance.now() - readAt < READING_MS;
    wait = isRead && !hasFailed ? READ_MS : Math.min(2 * wait, MOST_MS);
    timer = window.setTimeout(turn, wait);
  }

  for (const sign of SIGNS) addEventListener(sign, () => {
    readAt = performance.now();
    // The page only lay open, and is read again.
    if (wait > READ_MS && !hasFailed && readAt - askedAt >= READ_MS) turn();
  }, { capture: true, passive: true });
  document.addEventListener("visibilitychange", () => {
    readAt = performance.now();
    wait = READ_MS;
    turn();
  });
  return (/** @type {Topic} */ topic, /** @type {AbortSignal} */ signal) => {
    if (signal.aborted) return;
    topics.set(topic, true);
    signal.addEventListener("abort", () => topics.delete(topic));
    // With the elements that come in the same moment.
    if (!isAsking) {
      clearTimeout(timer);
      timer = window.setTimeout(turn);
    }
  };
}

/** Ask for topics, and say which have changed. @param {Map<Topic, boolean>} topics */
async function ask(topics) {
  const named = [...topics.keys()].filter((each) => each.name());
  const names = [...new Set(named.map((each) => each.name()))].sort().slice(0, MOST);
  if (!names.length) return;
  const askedAt = performance.now();
  const changes = await named[0].call(`/changes?${new URLSearchParams({ topics: names.join() })}`);
  for (const topic of named) {
    const version = changes.versions[topic.name()];
    const wasThere = topics.get(topic);
    if (version === undefined || wasThere === undefined) continue;
    topics.set(topic, version !== null);
    // What is gone is looked for once; what is there, until it is shown.
    if (version !== topic.known() && (version !== null || wasThere)) topic.changed?.(changes, askedAt);
  }
}
