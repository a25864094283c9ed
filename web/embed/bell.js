// @ts-check
/** <plaza-bell>: the number of a reader's unseen notifications, and a list of all. */
import { call, Problem, readerId } from "./api.js";
import { apiOf, h, sheet, tell } from "./element.js";
import { Live } from "./live.js";
import { load } from "./load.js";
import { readPushMark } from "./push-mark.js";
import { followReader, retry } from "./states.js";
import { wordsFor } from "./words.js";
import bell from "./words/en/bell.js";
import css from "./bell.css";

/** @typedef {{unread: number, unseen: number}} Counts The API counts up to a hundred, which stands for more. */

const STYLES = [sheet(css)];
/** Styles of a guest's bell: it takes no room, unless the page reserves some. */
const AWAY = [sheet(":host { display: none; }")];
const INBOX_TOPIC = "inbox";
const MOST = 99;
const NONE = { unread: 0, unseen: 0 };
const SVG = "http://www.w3.org/2000/svg";
/** The list, and push messages; the build writes the addresses of this release. */
const INBOX = BUILT_INBOX;
const PUSH = BUILT_PUSH;

/** A drawing of a bell. */
function drawing() {
  const [svg, path] = ["svg", "path"].map((tag) => document.createElementNS(SVG, tag));
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", "M18 16v-5a6 6 0 0 0-12 0v5l-2 2h16zM10 21h4");
  svg.append(path);
  return svg;
}

export default class PlazaBell extends Live {
  static reads = ["lang", "api", "worker"];

  #root = this.attachShadow({ mode: "open" });
  #badge = h("span", { part: "count", class: "badge", "aria-hidden": "true" });
  #button = h("button", { part: "button", class: "bell", popovertarget: "panel", "aria-haspopup": "dialog", onpointerover: () => this.#load().catch(() => {}), onfocus: () => this.#load().catch(() => {}) }, drawing(), this.#badge);
  #panel = h("section", { id: "panel", part: "root", popover: "auto", role: "dialog", tabindex: -1, autofocus: true, onbeforetoggle: () => this.#place(), ontoggle: () => this.#toggled() });
  #reader = "";
  /** Whether the page has failed to say who reads. */
  #isUnknown = false;
  #counts = NONE;
  /** The API's version of the counts; undefined: unknown. @type {string | null | undefined} */
  #version = undefined;
  /** When the reader came or last set a mark, in any tab: answers to earlier calls are out of date. */
  #markedAt = -Infinity;
  /** Sends marks to the other tabs of the site; null if the browser refuses a channel. @type {BroadcastChannel | null} */
  #tabs = null;
  /** @type {Promise<typeof import("./inbox.js")> | null} */
  #loading = null;
  /** @type {import("./inbox.js").Inbox | null} */
  #inbox = null;
  /** @type {import("./words.js").Words} */
  #words = /** @type {any} */ (null);

  /** @param {AbortSignal} alive */
  connected(alive) {
    followReader(() => this.#reader, () => this.restart(), alive);
    this.watch(async () => { if (this.#isUnknown) this.restart(); return false; }, {
      api: apiOf(this),
      name: () => this.#reader && INBOX_TOPIC,
      known: () => this.#version || undefined,
      call: (path) => call(apiOf(this), path, { signal: alive }),
      changed: (changes, askedAt) => askedAt > this.#markedAt && this.#take(changes),
    });
    for (const event of ["scroll", "resize"]) addEventListener(event, () => this.#place(), { capture: true, passive: true, signal: alive });
    try {
      const tabs = (this.#tabs = new BroadcastChannel("plaza:bell"));
      tabs.onmessage = ({ data: { inbox, counts } }) => inbox === this.#nameOf(this.#reader) && this.#mark(counts);
      alive.addEventListener("abort", () => tabs.close());
    } catch {
      this.#tabs = null;
    }
  }

  /** The name of a reader's inbox, unique among all deployments. @param {string} reader */
  #nameOf(reader) {
    return `${apiOf(this)} ${reader}`;
  }

  /** @param {string} path @param {import("./api.js").Options} [options] */
  async #call(path, options) {
    const { alive, now } = this;
    const answer = await call(apiOf(this), path, { signal: alive, as: this.#reader, ...options });
    if (now.aborted) throw new Problem({});
    return answer;
  }

  /** @param {AbortSignal} now */
  async start(now) {
    const reader = await readerId();
    if (now.aborted) return;
    const before = this.#reader;
    if (reader !== before) this.#leave();
    this.#isUnknown = reader === null;
    if (reader === null) throw new Problem({ code: "sign_in_failed" });
    // A page that begins without a reader ends no push messages: a session may just have expired.
    if (reader || before) this.#keepPushUp(reader);
    if (!reader) return;
    this.#words = await wordsFor(this, { bell });
    if (now.aborted) return;
    this.#reader = reader;
    this.#inbox = null;
    const { isRtl, language, t } = this.#words;
    for (const each of [this.#button, this.#panel]) {
      each.dir = isRtl ? "rtl" : "ltr";
      each.lang = language;
    }
    this.#panel.ariaLabel = t("notifications");
    this.#panel.replaceChildren();
    this.#root.adoptedStyleSheets = STYLES;
    // A list of another reader, or in another language, closes.
    this.#root.replaceChildren(this.#button, this.#panel);
    this.#show(this.#counts);
    const askedAt = (this.#markedAt = performance.now());
    const changes = await this.#call(`/changes?topics=${INBOX_TOPIC}`);
    if (askedAt === this.#markedAt) this.#take(changes);
    if (!now.aborted) tell(this, "ready");
  }

  /** End push messages of another reader in this browser, and renew the reader's own. @param {string} reader */
  async #keepPushUp(reader) {
    const worker = this.getAttribute("worker");
    const mark = worker && readPushMark();
    if (!mark) return;
    const { alive } = this;
    const { language } = await wordsFor(this, { bell });
    // Failures are ignored here: the form of push messages shows them.
    await load(PUSH).then(({ keepUp }) => keepUp(mark, {
      inbox: this.#nameOf(reader),
      worker,
      call: (/** @type {string} */ path, /** @type {import("./api.js").Options} */ options) => call(apiOf(this), path, { signal: alive, as: reader, ...options }),
      language,
    })).catch(() => {});
  }

  /** @param {unknown} error */
  fail(error) {
    // The page's token was refused: its reader is a guest here.
    if (error instanceof Problem && error.response?.status === 401) this.#leave();
    else tell(this, "error", error);
  }

  /** Show nothing, as to a guest. */
  #leave() {
    this.#reader = "";
    this.#root.adoptedStyleSheets = AWAY;
    this.#root.replaceChildren();
    this.#mark(NONE);
  }

  /** Take what the API tells of the inbox. @param {import("./topics.js").Changes} changes */
  #take({ versions, inbox }) {
    // The page's token was refused: its reader is a guest here.
    if (!inbox) return this.#leave();
    this.#version = versions[INBOX_TOPIC];
    this.#show(inbox);
  }

  /** @param {Counts} counts */
  #mark(counts) {
    this.#markedAt = performance.now();
    this.#version = undefined;
    this.#show(counts);
  }

  /** @param {Counts} counts */
  #show({ unread, unseen }) {
    const isOther = unread !== this.#counts.unread || unseen !== this.#counts.unseen;
    this.#counts = { unread, unseen };
    if (this.#reader) {
      const { t } = this.#words;
      this.#badge.textContent = unseen ? this.#number(unseen) : "";
      this.#button.ariaLabel = unseen > MOST ? t("unseenMost") : unseen ? t("unseen", { n: unseen }) : t("notifications");
    }
    if (isOther) tell(this, "notifications", this.#counts);
  }

  /** A number in the reader's language; a hundred stands for more. @param {number} count */
  #number(count) {
    return Math.min(count, MOST).toLocaleString(this.#words.locale) + (count > MOST ? "+" : "");
  }

  /** Keep the list beside its button. */
  #place() {
    const { left, right, top, bottom } = this.#button.getBoundingClientRect();
    const { clientWidth, clientHeight } = document.documentElement;
    const isAbove = top > clientHeight - bottom && clientHeight - bottom < 320;
    this.#panel.classList.toggle("above", isAbove);
    this.#panel.style.setProperty("--_x", `${this.#words?.isRtl ? left : clientWidth - right}px`);
    this.#panel.style.setProperty("--_y", `${isAbove ? clientHeight - top : bottom}px`);
  }

  /** @returns {Promise<typeof import("./inbox.js")>} */
  #load() {
    return (this.#loading ||= load(INBOX).catch(() => {
      this.#loading = null;
      throw new Problem({});
    }));
  }

  async #toggled() {
    if (!this.#panel.matches(":popover-open")) {
      const isLeft = "left" in this.#panel.dataset;
      delete this.#panel.dataset.left;
      // Browsers do not return the focus within a component: do so if nothing else has it.
      if (!isLeft && (this.#root.activeElement || document.activeElement === document.body)) this.#button.focus({ preventScroll: true });
      return;
    }
    const { now } = this;
    const words = this.#words;
    try {
      const { Inbox } = await this.#load();
      if (now.aborted) return;
      this.#inbox ||= new Inbox(this.#panel, {
        words,
        call: (path, options) => this.#call(path, options),
        counts: () => this.#counts,
        number: (count) => this.#number(count),
        counted: (counts) => {
          this.#mark(counts);
          this.#tabs?.postMessage({ inbox: this.#nameOf(this.#reader), counts });
        },
        retry: (error, again) => retry(error, words, again),
        worker: this.getAttribute("worker") || "",
        inbox: this.#nameOf(this.#reader),
      });
      await this.#inbox.open();
    } catch (error) {
      if (!now.aborted) this.#panel.replaceChildren(retry(error, words, () => { this.#panel.focus(); this.#toggled(); }));
    }
  }
}
