// @ts-check
/** The form that reports a comment to the moderators: loaded when a reader presses its button. */
import { h } from "./element.js";
import { goTo } from "./focus.js";
import { whenTyped } from "./keyboard.js";
import { withMatters } from "./matters.js";
import flag from "./words/en/flag.js";

const WHY = ["spam", "abuse", "off_topic", "personal_data", "other"];
/** `reader:comment` reported since this page opened; the API lists none. @type {Set<string>} */
const reported = new Set();

/**
 * Put the form of a report into a comment's article, unless the article has a form. The reader's
 * text survives a refusal.
 * @param {Element} article
 * @param {string} id `reader:comment`: another reader of this browser has reported nothing.
 * @param {import("./words.js").Words} shared
 * @param {(options: import("./api.js").Options) => Promise<unknown>} call
 * @param {(told: string, back: Element | null) => void} done Gets the outcome, "" after a cancel,
 *   and a button that withdraws the report, null if there is none.
 */
export async function openReport(article, id, shared, call, done) {
  const { t, reason } = await withMatters(shared, { flag });
  const why = /** @type {HTMLSelectElement} */ (h("select", {}, ...WHY.map((each) => h("option", { value: each }, t(`flag_${each}`)))));
  const note = /** @type {HTMLTextAreaElement} */ (h("textarea", { "aria-label": t("flagNote"), placeholder: t("flagNote"), rows: 2, dir: "auto", part: "input" }));
  const row = h("div", { class: "row" }, h("button", { class: "primary", part: "button primary" }, t("flagSend")));
  const form = h("form", { part: "form", class: "flag", onsubmit: send, onkeydown: whenTyped(leave) }, h("label", { class: "row" }, t("flagWhy"), why), h("div", { class: "row" }, note), row);
  const backButton = () => reported.has(id) ? h("button", { type: "button", part: "button", onclick: takeBack }, t("flagBack")) : null;
  row.append(backButton() || "");
  row.append(h("button", { type: "button", part: "button", onclick: () => close("") }, t("cancel")));
  let isSending = false;

  /** @param {string} told */
  function close(told) {
    form.remove();
    done(told, told ? backButton() : null);
    const button = /** @type {HTMLElement | null} */ (article.querySelector("[data-does=report]"));
    if (!button) return;
    button.textContent = t(reported.has(id) ? "reported" : "report");
    goTo(button);
  }

  /** @param {Event} event */
  function send(event) {
    event.preventDefault();
    return tried({ method: "PUT", body: { reason: why.value, note: note.value.trim() || null } }, () => reported.add(id), "flagged");
  }

  function takeBack() {
    return tried({ method: "DELETE" }, () => reported.delete(id), "flagWithdrawn");
  }

  /** @param {import("./api.js").Options} options @param {() => void} noted @param {string} told */
  async function tried(options, noted, told) {
    if (isSending) return;
    isSending = true;
    form.querySelector("[role=alert]")?.remove();
    try {
      await call(options);
      noted();
      close(t(told));
    } catch (error) {
      if (form.isConnected) form.append(h("p", { role: "alert", class: "note" }, reason(error)));
      else close(reason(error));
    }
    isSending = false;
  }

  /** @param {KeyboardEvent} event */
  function leave(event) {
    if (event.key === "Escape") close("");
  }

  // A second press while the words loaded has put a form there.
  if (article.querySelector("form")) return;
  article.append(form);
  goTo(why);
}
