// @ts-check
/** <plaza-hit site="harbour-post">: reports that the page was opened, and shows nothing. */

import { newKey } from "./key.js";

/** The token of who reads, as the page gives it: by its function, or at an address. */
async function readerOf() {
  if (window.plaza?.token) return window.plaza.token();
  const address = document.querySelector('meta[name="plaza-token-url"]')?.getAttribute("content");
  return address && (await (await fetch(address)).json()).token;
}

/** The path and query that are reported; none of a page without an address. @param {string} [named] */
function pathOf(named) {
  try {
    const { pathname, search } = new URL(named || location.href, document.baseURI);
    return pathname.startsWith("/") ? (pathname + search).slice(0, 4096) : "";
  } catch {
    return "";
  }
}

export default class PlazaHit extends HTMLElement {
  static observedAttributes = ["path"];

  connectedCallback() {
    // A page that a browser makes ready ahead is not open yet.
    if ("prerendering" in document && document.prerendering) document.addEventListener("prerenderingchange", () => this.#report(), { once: true });
    else this.#report();
  }

  /** An application that changes its page without loading one. @param {string} _ @param {string | null} before */
  attributeChangedCallback(_, before) {
    if (before !== null && this.isConnected) this.#report();
  }

  async #report() {
    const said = (/** @type {string} */ name) => this.getAttribute(name) || undefined;
    const api = (said("api") || window.plaza?.api || new URL("../../", import.meta.url).href).replace(/\/+$/, "");
    const [site, path] = [said("site"), pathOf(said("path"))];
    if (!site || !path) return;
    // By characters: a cut within an emoji leaves half of it.
    const title = Array.from(document.title).slice(0, 200).join("");
    const hit = { id: newKey(), path, ref: document.referrer.slice(0, 2000) || undefined, title, node: said("node") };
    const body = JSON.stringify({ site, hits: [hit] });
    const token = this.hasAttribute("user") && (await readerOf().catch(() => null));
    // A beacon has no headers, so one of a reader who is named goes by `fetch`.
    if (token || !navigator.sendBeacon(`${api}/hits`, body)) {
      /** @type {Record<string, string>} */
      const headers = token ? { Authorization: `Bearer ${token}` } : {};
      fetch(`${api}/hits`, { method: "POST", keepalive: true, headers, body }).catch(() => {});
    }
  }
}
