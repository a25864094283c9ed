// @ts-check
/** <plaza-hit site="harbour-post">: reports that the page was opened, and shows nothing. */
import { newKey } from "./key.js";
import { Live } from "./live.js";

/** The last path that this document reported, by API and site. @type {Map<string, string>} */
const last = new Map();
/** APIs and sites that have this document's referrer. @type {Set<string>} */
const referred = new Set();
// A return from the back-forward cache counts as a new view.
addEventListener("pageshow", ({ persisted }) => persisted && last.clear());

/** The reader's token, from the page's function or the address in its `<meta>`; falsy for none. */
async function readerOf() {
  if (window.plaza?.token) return window.plaza.token();
  const address = document.querySelector('meta[name="plaza-token-url"]')?.getAttribute("content");
  return address && (await (await fetch(address)).json()).token;
}

export default class PlazaHit extends Live {
  static needs = ["site"];
  static reads = ["path"];

  /** @param {AbortSignal} signal */
  connected(signal) {
    addEventListener("pageshow", ({ persisted }) => persisted && this.restart(), { signal });
    document.addEventListener("prerenderingchange", () => this.restart(), { signal });
  }

  async start() {
    // The reader has not opened a prerendered page yet.
    if ("prerendering" in document && document.prerendering) return;
    const said = (/** @type {string} */ name) => this.getAttribute(name) || undefined;
    const api = (said("api") || window.plaza?.api || new URL("../../", import.meta.url).href).replace(/\/+$/, "");
    const { pathname, search } = new URL(said("path") || location.href, document.baseURI);
    const [site, path] = [said("site"), (pathname + search).slice(0, 4096)];
    const key = `${api} ${site}`;
    // A page without an address has no path.
    if (path[0] !== "/" || last.get(key) === path) return;
    last.set(key, path);
    const ref = referred.has(key) ? undefined : document.referrer.slice(0, 2000) || undefined;
    referred.add(key);
    // By characters: a cut within an emoji leaves half of it.
    const title = Array.from(document.title).slice(0, 200).join("");
    const body = JSON.stringify({ site, hits: [{ id: newKey(), path, ref, title, node: said("node") }] });
    const token = this.hasAttribute("user") && (await readerOf().catch(() => null));
    // A beacon cannot carry the reader's token in a header: `fetch` sends that hit.
    if (token || !navigator.sendBeacon(`${api}/hits`, body)) {
      /** @type {Record<string, string>} */
      const headers = token ? { Authorization: `Bearer ${token}` } : {};
      fetch(`${api}/hits`, { method: "POST", keepalive: true, headers, body }).catch(() => {});
    }
  }
}
