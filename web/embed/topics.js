// @ts-check
/** Polls for changes: one call at a time asks for the topics of all elements of a page. */

/** @typedef {import("./plaza-api.js").components["schemas"]["ChangesAnswer"]} Changes */
/**
 * @typedef {object} Topic A subject of changes, for one element.
 * @property {string} api
 * @property {() => string} name The topic's name in the API; "" for none now.
 * @property {() => string | null | undefined} known The version that the element shows; null: it
 *   shows that there is nothing; undefined: unknown.
 * @property {(path: string) => Promise<Changes>} call Calls the API as the element's reader.
 * @property {(changes: Changes, askedAt: number) => void} [changed] Called when the topic has
 *   another version, with the `performance.now()` of the call's start.
 */

/** The pause between two calls; it doubles up to MOST_MS for an idle reader or a failure. */
const READ_MS = 8_000;
const MOST_MS = 300_000;
/** After this time without a sign of the reader, the page counts as idle. */
const READING_MS = 120_000;
/** The most topics of one call: the first by name. The others are not asked for. */
const MOST = 20;
const SIGNS = ["keydown", "pointerdown", "pointermove", "scroll", "wheel"];

/** @type {Map<string, (topic: Topic, signal: AbortSignal) => void>} */
const pages = new Map();

/**
 * Call `changed` of a topic at its changes, until the signal aborts.
 * @param {Topic} topic @param {AbortSignal} signal
 */
export function hear(topic, signal) {
  const { api } = topic;
  if (!pages.has(api)) pages.set(api, begin());
  /** @type {(topic: Topic, signal: AbortSignal) => void} */ (pages.get(api))(topic, signal);
}

/** Begin to poll an API; return a function that adds a topic until a signal. */
function begin() {
  /**
   * The topics; true if the last answer had a version, or there is no answer yet.
   * @type {Map<Topic, boolean>}
   */
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
    // The reader is back at an idle page.
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
    // In a later task, to include elements that are added at the same moment.
    if (!isAsking) {
      clearTimeout(timer);
      timer = window.setTimeout(turn);
    }
  };
}

/**
 * Ask for the versions of topics, and call `changed` of those with another. Rejects if the call
 * fails.
 * @param {Map<Topic, boolean>} topics
 */
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
    // A gone topic is reported once; a new version at each poll until the element shows it.
    if (version !== topic.known() && (version !== null || wasThere)) topic.changed?.(changes, askedAt);
  }
}
