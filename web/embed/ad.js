// @ts-check
/** <plaza-ad site="harbour-post" zone="sidebar">: one place for an ad. */
import { call } from "./api.js";
import { apiOf, h, sheet } from "./element.js";
import { isRtl, languageAt } from "./languages.js";
import { Live } from "./live.js";
import css from "./ad.css";

/** @typedef {import("./plaza-api.js").components["schemas"]["DecisionAnswer"]} Decision */
/** @typedef {Decision["ads"][number]} Ad */

const STYLES = sheet(css);
/**
 * An ad counts as seen after a second with half of its pixels in view, or 30% if it is large, in
 * a page in front. Source: MRC Viewable Ad Impression Measurement Guidelines, version 1.0 (2014).
 */
const SEEN_MS = 1_000;
const LARGE_PIXELS = 242_500;
const SHARE = 0.5;
const SHARE_OF_LARGE = 0.3;
/** The least height of a creative, since a sliver would count as seen: the lowest banner is 320 x 50. */
const LOWEST_PX = 50;
/** The one word that an ad needs. @type {Record<string, string>} */
const LABELS = {
  en: "Advertisement", de: "Anzeige", fr: "Publicité", es: "Publicidad", it: "Pubblicità", "pt-br": "Publicidade", nl: "Advertentie",
  pl: "Reklama", uk: "Реклама", ru: "Реклама", ja: "広告", "zh-cn": "广告", ar: "إعلان",
};
/** Attributes by which the page describes its reader and itself. */
const TOLD = ["keywords", "consent", "visitor"];

export default class PlazaAd extends Live {
  static needs = ["site", "zone"];
  static reads = [...TOLD, "height", "lang", "api"];

  #root = this.attachShadow({ mode: "open" });

  /** @param {HTMLElement} [stub] */
  constructor(stub) {
    super(stub);
    this.#root.adoptedStyleSheets = [STYLES];
    this.#root.append(h("slot"));
  }

  /** @param {AbortSignal} signal */
  async start(signal) {
    // Reserves the named height, so that the ad moves nothing; the label takes 1.25rem.
    const height = Number(this.getAttribute("height"));
    if (height) this.style.minBlockSize = `calc(${height}px + 1.25rem)`;
    const api = apiOf(this);
    const query = new URLSearchParams();
    for (const name of TOLD) {
      const value = this.getAttribute(name);
      if (value !== null) query.set(name, value);
    }
    const [site, zone] = ["site", "zone"].map((name) => encodeURIComponent(this.getAttribute(name) || ""));
    /** @type {Decision | null} */
    const decision = await call(api, `/ads/${site}/${zone}?${query}`, { anonymous: true, signal }).catch(() => null);
    if (signal.aborted) return;
    if (decision?.ads[0]) this.#show(decision.ads[0], decision.size, api, signal);
    else {
      this.#root.replaceChildren(h("slot"));
      this.dispatchEvent(new CustomEvent("plaza:empty", { bubbles: true, composed: true }));
    }
  }

  /** @param {Ad} ad @param {Decision["size"]} size @param {string} api @param {AbortSignal} signal */
  #show(ad, { width, height }, api, signal) {
    const language = languageAt(this, Object.keys(LABELS));
    const label = LABELS[language];
    const absolute = (/** @type {string} */ url) => new URL(url, `${api}/`).href;
    const inside = creative(ad.creative, absolute, absolute(ad.click_url), label);
    const link = { href: absolute(ad.click_url), target: "_blank", rel: "sponsored nofollow noopener", part: "link" };
    const place = h("div", { class: "place" }, ad.creative.type === "html" ? inside : h("a", link, inside));
    place.style.inlineSize = `${width}px`;
    // A picture may be lower than its place, or made narrower by a narrow column.
    place.style[ad.creative.type === "image" ? "maxBlockSize" : "blockSize"] = `${height}px`;
    // No landmark: a page has several of this name.
    const shown = h("div", { part: "ad", role: "group", "aria-label": label, lang: language, dir: isRtl(language) ? "rtl" : "ltr" },
      h("small", { part: "label" }, label), place);
    this.#root.replaceChildren(shown);
    if (inside instanceof HTMLIFrameElement) fit(place, inside, height, signal);
    whenSeen(place, signal, () => navigator.sendBeacon(absolute(ad.impression_url)));
    this.dispatchEvent(new CustomEvent("plaza:shown", { bubbles: true, composed: true, detail: { campaign: ad.campaign_id } }));
  }
}

/**
 * Set the height in px that the creative asks for, up to the zone's: `parent.postMessage({plaza: {height: 90}}, "*")`.
 * @param {HTMLElement} place @param {HTMLIFrameElement} frame @param {number} height of the zone @param {AbortSignal} signal
 */
function fit(place, frame, height, signal) {
  addEventListener("message", ({ source, data }) => {
    const wanted = Number(source === frame.contentWindow && data?.plaza?.height);
    if (wanted > 0) place.style.blockSize = `${Math.min(height, Math.max(LOWEST_PX, wanted))}px`;
  }, { signal });
}

/** @param {Ad["creative"]} given @param {(url: string) => string} absolute @param {string} click @param {string} label */
function creative(given, absolute, click, label) {
  switch (given.type) {
    case "image":
      return h("img", { src: absolute(given.url), width: given.width, height: given.height, alt: given.alt.trim() || label });
    case "html":
      // A document of its own, whose policy gives it an origin of its own: see `frame_url`.
      return h("iframe", {
        // The part after `#` is not sent: the creative's own link leads there, and is counted.
        src: `${absolute(given.frame_url)}#${click}`,
        title: label,
        referrerpolicy: "no-referrer",
        sandbox: "allow-scripts allow-popups allow-popups-to-escape-sandbox",
      });
    case "text":
      return lines(given.headline, given.body);
    default:
      return lines(...Object.values(given.fields));
  }
}

/** @param {...string} texts */
function lines(...texts) {
  return h("span", { class: "lines" }, ...texts.map((text, at) => h(at ? "span" : "b", { dir: "auto" }, text)));
}

/** Call back once, when the element was seen. @param {Element} element @param {AbortSignal} signal @param {() => void} told */
function whenSeen(element, signal, told) {
  const { width, height } = element.getBoundingClientRect();
  const needed = width * height > LARGE_PIXELS ? SHARE_OF_LARGE : SHARE;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let share = 0;
  const observer = new IntersectionObserver((entries) => {
    share = entries[entries.length - 1].intersectionRatio;
    look();
  }, { threshold: [needed] });
  const stop = () => {
    clearTimeout(timer);
    observer.disconnect();
  };
  function look() {
    if (share < needed || document.hidden) {
      clearTimeout(timer);
      timer = undefined;
    } else {
      timer ??= setTimeout(() => {
        stop();
        told();
      }, SEEN_MS);
    }
  }
  signal.addEventListener("abort", stop);
  document.addEventListener("visibilitychange", look, { signal });
  observer.observe(element);
}
