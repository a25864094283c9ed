// @ts-check
/** <plaza-count node="harbour:moon">Comments</plaza-count>: how many comments a page has. */
import { call } from "./api.js";
import { apiOf, h } from "./element.js";
import { Live } from "./live.js";
import { wordsFor } from "./words.js";

/** Nodes that one call may ask for. */
const MOST = 100;
/** Characters of their ids: API Gateway takes 10,240 bytes of an address and headers, and a colon is sent as three. */
const MOST_CHARACTERS = 5_000;
/** @typedef {{nodes: Set<string>, counts: Promise<Record<string, number>>}} Batch */
/** @type {Map<string, Batch>} */
const gathering = new Map();

/** Request a node's count in a call of up to MOST nodes of a turn; return counts by node. @param {string} api @param {string} node */
function countsWith(api, node) {
  let batch = gathering.get(api);
  const isFull = batch && (batch.nodes.size >= MOST || [...batch.nodes, node].join().length > MOST_CHARACTERS);
  if (!batch || isFull) {
    /** @type {Set<string>} */
    const nodes = new Set();
    const turn = new Promise((resolve) => setTimeout(resolve));
    const counts = turn.then(() => {
      gathering.delete(api);
      return call(api, `/comment-counts?${new URLSearchParams({ nodes: [...nodes].join() })}`, { anonymous: true });
    });
    batch = { nodes, counts };
    gathering.set(api, batch);
  }
  batch.nodes.add(node);
  return batch.counts;
}

export default class PlazaCount extends Live {
  static needs = ["node"];
  static reads = ["lang", "api"];

  #root = this.attachShadow({ mode: "open" });

  /** @param {HTMLElement} [stub] */
  constructor(stub) {
    super(stub);
    this.#root.append(h("slot"));
  }

  /** @param {AbortSignal} now */
  async start(now) {
    const node = this.getAttribute("node") || "";
    const counts = await countsWith(apiOf(this), node).catch(() => null);
    const { t } = await wordsFor(this);
    if (!now.aborted) this.#root.replaceChildren(!counts ? h("slot") : h("span", { part: "count" }, t("count", { n: counts[node] || 0 })));
  }
}
