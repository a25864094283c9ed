// @ts-check
/** The Harbour Post's own script: the choice of reader, the table of calls, and copying. */

/** @typedef {{method: string, url: URL, headers: Headers, body: string | null}} Sent */
/** @typedef {Sent & {status: string, row: HTMLTableRowElement}} Call */

(() => {
  const READER = "harbour-post:reader";
  /** @type {Call[]} */
  const calls = [];
  const send = window.fetch.bind(window);
  const beacon = navigator.sendBeacon.bind(navigator);

  /** Return the reader's token, for Plaza's widgets; null for a guest or after a refusal. */
  async function token() {
    const sub = sessionStorage.getItem(READER);
    if (!sub) return null;
    const headers = { "Content-Type": "application/json" };
    const answer = await send("/demo/token", { method: "POST", headers, body: JSON.stringify({ sub }) });
    return answer.ok ? (await answer.json()).token : null;
  }
  /** The words for the newspaper's own types of actions; its server registers the types. */
  const words = {
    did_new_applicant: "New application: {applicant_name}, {position_name}",
    did_application_rating: "Rating of {applicant_name}, {position_name}: {rating_score} of 5",
    did_rating_requested: "Rating wanted: {applicant_name}, {position_name}",
    did_applicant_hired: "Hired: {applicant_name}, {position_name}",
  };
  /** @type {any} */ (window).plaza = { token, words };

  window.fetch = async (input, init = {}) => {
    const request = input instanceof Request ? input : null;
    const call = begun({
      method: (init.method || request?.method || "GET").toUpperCase(),
      url: new URL(request ? request.url : String(input), location.href),
      headers: new Headers(init.headers || request?.headers),
      body: typeof init.body === "string" ? init.body : null,
    });
    const start = performance.now();
    try {
      const response = await send(input, init);
      ended(call, String(response.status), performance.now() - start, response.status >= 400);
      return response;
    } catch (error) {
      ended(call, "no answer", performance.now() - start, true);
      throw error;
    }
  };

  navigator.sendBeacon = (address, data) => {
    const isQueued = beacon(address, data);
    const body = typeof data === "string" ? data : null;
    const call = begun({ method: "POST", url: new URL(address, location.href), headers: new Headers(), body });
    ended(call, isQueued ? "beacon" : "refused", null, !isQueued);
    return isQueued;
  };

  /** @param {Sent} sent @returns {Call} */
  function begun(sent) {
    const call = { ...sent, status: "…", row: document.createElement("tr") };
    const copy = document.createElement("button");
    copy.type = "button";
    copy.textContent = "Copy as curl";
    copy.addEventListener("click", () => copied(copy, curl(call)));
    for (const content of [call.method, pathOf(call), call.status, "", copy]) call.row.insertCell().append(content);
    calls.push(call);
    show();
    return call;
  }

  /** @param {Call} call @param {string} status @param {number | null} ms @param {boolean} failed */
  function ended(call, status, ms, failed) {
    call.status = status;
    call.row.cells[2].textContent = status;
    call.row.cells[2].className = failed ? "failed" : "";
    if (ms !== null) call.row.cells[3].textContent = String(Math.round(ms));
    show();
  }

  /** Add new calls to the table, and update its summary; calls may precede the table. */
  function show() {
    const rows = document.getElementById("calls-rows");
    const last = calls.at(-1);
    if (!rows || !last) return;
    rows.append(...calls.map((call) => call.row).filter((row) => !row.isConnected));
    /** @param {string} id @param {string} text */
    const write = (id, text) => document.getElementById(id)?.replaceChildren(text);
    write("calls-count", calls.length === 1 ? "1 call" : `${calls.length} calls`);
    write("calls-last", `${last.method} ${pathOf(last)} ${last.status}`);
  }

  /**
   * Return a call's address for people: decoded, and long tokens cut to 12 characters.
   * @param {Call} call
   */
  function pathOf({ url }) {
    const host = url.origin === location.origin ? "" : url.origin;
    const shown = (host + url.pathname + url.search).replace(/%(?:20|2C|3A)/gi, decodeURIComponent);
    return shown.replace(/([\w-]{12})[\w-]{40,}/g, "$1…");
  }

  /**
   * Return the call as a curl command; `$TOKEN` stands for the reader's token.
   * @param {Call} call
   */
  function curl({ method, url, headers, body }) {
    const parts = ["curl"];
    if (method !== "GET") parts.push(`-X ${method}`);
    headers.forEach((value, name) => {
      parts.push(name === "authorization" ? '-H "Authorization: Bearer $TOKEN"' : `-H ${quoted(`${name}: ${value}`)}`);
    });
    if (body !== null) parts.push(`--data-raw ${quoted(body)}`);
    return [...parts, quoted(url.href)].join(" ");
  }

  /** @param {string} text */
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

  /**
   * Copy on a page of plain http, where browsers have no clipboard.
   * @param {HTMLElement} button @param {string} text
   */
  function copySelected(button, text) {
    const area = document.createElement("textarea");
    area.value = text;
    button.after(area);
    area.select();
    document.execCommand("copy");
    area.remove();
    button.focus();
  }

  /** The buttons' own labels. @type {WeakMap<HTMLElement, string>} */
  const labels = new WeakMap();

  /** @param {HTMLElement} button @param {string} text */
  async function copied(button, text) {
    labels.set(button, labels.get(button) || button.textContent || "");
    // Plain http has no clipboard, and a browser may refuse it.
    const isCopied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
    if (!isCopied) copySelected(button, text);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = labels.get(button) || ""), 1_500);
  }

  /** Follow the choice of a reader, and the widgets' requests to sign in. */
  function choose() {
    const reader = /** @type {HTMLSelectElement} */ (document.getElementById("reader"));
    const read = () => {
      sessionStorage.setItem(READER, reader.value);
      document.dispatchEvent(new CustomEvent("plaza:identity"));
    };
    reader.addEventListener("change", read);
    // A real site shows its sign-in; the demo chooses its first reader.
    document.addEventListener("plaza:sign-in", ({ target }) => {
      const discussion = /** @type {HTMLElement} */ (target);
      reader.selectedIndex = 1;
      discussion.addEventListener("plaza:ready", () => discussion.shadowRoot?.querySelector("textarea")?.focus(), { once: true });
      read();
    });
    reader.value = sessionStorage.getItem(READER) || "";
    handOver(reader);
  }

  /**
   * Show a button that opens the console with the newspaper's token, to readers with pages there.
   * @param {HTMLSelectElement} reader
   */
  function handOver(reader) {
    const button = /** @type {HTMLElement} */ (document.getElementById("console"));
    const show = () => (button.hidden = !reader.selectedOptions[0].hasAttribute("data-console"));
    reader.addEventListener("change", show);
    button.addEventListener("click", async () => {
      location.assign(`/console#token=${await token()}`);
    });
    show();
  }

  document.addEventListener("DOMContentLoaded", () => {
    for (const button of document.querySelectorAll("[data-copies]")) {
      const source = document.getElementById(button.getAttribute("data-copies") || "");
      button.addEventListener("click", () => copied(/** @type {HTMLElement} */ (button), source?.textContent || ""));
    }
    choose();
    show();
  });
})();
