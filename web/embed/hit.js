// @ts-check
/** <plaza-hit site="harbour-post">: reports that the page was opened, and shows nothing. */
import { newKey } from "./key.js";
import { Live } from "./live.js";

/** The paths that this document has reported last, by API and site. @type {Map<string, string>} */
const last = new Map();
/** Sites that know where its reader came from. @type {Set<string>} */
const referred = new Set();
// A page that comes back from the browser's memory is opened again.
addEventListener("pageshow", ({ persisted }) => persisted && last.clear());

/** The token of who reads, as the page gives it: by its function, or at an address. */
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
    // A page that a browser makes ready ahead is not open yet.
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
    // A beacon has no headers, so one of a reader who is named goes by `fetch`.
    if (token || !navigator.sendBeacon(`${api}/hits`, body)) {
      /** @type {Record<string, string>} */
      const headers = token ? { Authorization: `Bearer ${token}` } : {};
      fetch(`${api}/hits`, { method: "POST", keepalive: true, headers, body }).catch(() => {});
    }
  }
}
