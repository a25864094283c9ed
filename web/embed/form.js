// @ts-check
/** A form for a text: it stores a draft; a failed send loses nothing. For signed-in readers. */
import { h, sheet } from "./element.js";
import { keep, keptValue } from "./kept.js";
import { newKey } from "./key.js";
import { whenTyped } from "./keyboard.js";
import { load } from "./load.js";
import forms from "./forms.css";
import form from "./words/en/form.js";

/** @typedef {import("./words.js").Words} Words */
/** @typedef {{id: string, name: string}} Person */
/**
 * @typedef {object} FormOptions
 * @property {Words} words
 * @property {string} place The draft's key: the writer and the place of the text.
 * @property {string} label
 * @property {string} [hint] The placeholder.
 * @property {number} [most] The longest text, in characters.
 * @property {HTMLSelectElement} [choice] A choice that `send` reads; the draft stores it.
 * @property {string} [text] The text to edit; none for a new one.
 * @property {(query: string) => Promise<Person[]>} [search] Finds people whom the text can mention.
 * @property {(text: string, mentions: string[]) => Promise<HTMLElement>} [preview] Shows the text as it would be shown.
 * @property {(text: string, key: string, signs: Signs) => Promise<void>} send Gets the same `key` and `signs` in each attempt at a text.
 * @property {() => void} [done] Ends the form after a send or a cancel; without it, the form stays.
 */

/**
 * @typedef {{website: string, written_ms: number, mentions: string[]}} Signs The ids of the people
 *   whom the text mentions, and two signs by which the API detects a program: the text of the
 *   hidden field `website`, and the milliseconds in which the form was open.
 */
/** @typedef {{text: string, key: string, spentMs?: number, choice?: string[], signs?: Signs, people?: Person[]}} Draft `spentMs`: how long earlier forms of this draft were open. */

/** The words of forms. */
export const FORM_WORDS = { form };
export const FORM_STYLES = sheet(forms);
/** The module that completes names; the build inserts this release's address. */
const COMPLETION = BUILT_COMPLETION;
/** The most people whom the API lets a text mention. */
export const MOST_MENTIONS = 10;

/** The longest `written_ms` that the API takes: 24.8 days. */
const MOST_MS = 2 ** 31 - 1;
/** From this share of the longest text on, the form shows the characters left. */
const COUNTED_SHARE = 0.9;

const drafts = {
  /** @param {string} place @returns {Draft | null} */
  read: (place) => keptValue("sessionStorage", place),
  /** @param {string} place @param {Draft | null} draft */
  write: (place, draft) => keep("sessionStorage", place, draft?.text ? JSON.stringify(draft) : null),
};

/** @param {FormOptions} options */
export function textForm({ words, place, label, hint = "", most = 10_000, choice, text = "", search, preview, send, done }) {
  const { t, locale } = words;
  const stored = `plaza:draft:${place}`;
  /** @type {Draft} */
  const draft = drafts.read(stored) || { text, key: newKey() };
  let { key, signs } = draft;
  let people = draft.people || [];
  const opened = performance.now();
  const spent = () => (draft.spentMs || 0) + performance.now() - opened;
  const chosenOf = () => people.filter(({ name }) => area.value.includes(`@${name}`)).map(({ id }) => id).slice(-MOST_MENTIONS);
  const left = h("small", { class: "left", id: `left-${newKey()}` });
  const shown = h("div", { class: "preview", hidden: true });
  // Clipped to nothing, not `display: none`: programs skip a field that is not displayed.
  const decoy = /** @type {HTMLInputElement} */ (h("input", { name: "website", tabindex: -1, autocomplete: "off", "data-1p-ignore": true, "data-lpignore": "true" }));
  // A draft for one circle must not become public, even before the reader's circles are loaded.
  if (choice && draft.choice) {
    const [name, value] = draft.choice;
    if (![...choice.options].some((each) => each.value === value)) choice.append(new Option(name, value));
    choice.value = value;
  }
  const area = /** @type {HTMLTextAreaElement} */ (h("textarea", {
    "aria-label": label,
    placeholder: hint,
    rows: 3,
    "aria-describedby": left.id,
    required: true,
    dir: "auto",
    part: "input",
    oninput: changed,
    onkeydown: whenTyped((event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
      if (event.key === "Escape") done?.();
    }),
  }));
  area.value = draft.text;
  choice?.addEventListener("change", changed);
  const does = t(text ? "save" : "post");
  const button = /** @type {HTMLButtonElement} */ (h("button", { class: "primary", part: "button primary", "aria-describedby": left.id }, does));
  const form = /** @type {HTMLFormElement} */ (h("form", { part: "form", onsubmit: submit }, area, h("div", { class: "decoy", inert: true, "aria-hidden": "true" }, decoy), shown,
    h("div", { class: "row" }, choice, button,
      preview && h("button", { type: "button", part: "button", onclick: show }, t("preview")),
      done && h("button", { type: "button", part: "button", onclick: done }, t("cancel")), left)));
  counted();

  function changed() {
    // A new text needs a new key: the API refuses another body under the old key.
    key = newKey();
    signs = undefined;
    shown.hidden = true;
    keepDraft();
    counted();
    if (area.value.includes("@")) completing();
  }

  /**
   * Show the characters left once they are few; return whether the text fits. Counts code points,
   * as the API does, not UTF-16 units.
   */
  function counted() {
    const isNear = area.value.length > COUNTED_SHARE * most;
    const room = isNear ? most - [...area.value.replace(/^(?:[ \t]*\n)+/, "").trimEnd()].length : most;
    left.textContent = isNear && room <= (1 - COUNTED_SHARE) * most ? t(room < 0 ? "over" : "left", { count: Math.abs(room).toLocaleString(locale) }) : "";
    left.classList.toggle("over", room < 0);
    return room >= 0;
  }

  /** Show a preview in place of the last, unless the text changes meanwhile. */
  async function show() {
    const { value } = area;
    if (!preview || !value.trim()) return;
    noted();
    try {
      const made = await preview(value, chosenOf());
      if (area.value !== value) return;
      shown.replaceChildren(made);
      shown.hidden = false;
    } catch (error) {
      noted(words.reason(error));
    }
  }

  /** Replace the alert at the form's end; remove it without a text. @param {string} [told] */
  function noted(told) {
    form.querySelector(".note")?.remove();
    if (told) form.append(h("p", { role: "alert", class: "note" }, told));
  }

  /** Load the completion of names, once, at the first `@`; a failure is ignored. */
  async function completing() {
    if (!search) return;
    const find = search;
    search = undefined;
    const module = await load(COMPLETION).catch(() => null);
    module?.complete(area, find, (/** @type {Person} */ person) => { people = [...people.filter((each) => each.name !== person.name), person]; });
  }

  function keepDraft() {
    const chosen = choice?.selectedOptions[0];
    drafts.write(stored, { text: area.value, key, signs, people, spentMs: Math.round(spent()), choice: chosen && [chosen.text, chosen.value] });
  }

  /** @param {Event} event */
  async function submit(event) {
    event.preventDefault();
    if (button.ariaDisabled) return;
    if (!counted()) return noted(left.textContent || "");
    // The form empties the field after the send: later input would be lost.
    area.readOnly = true;
    // A disabled button would lose the focus.
    button.ariaDisabled = "true";
    button.textContent = t("sending");
    noted();
    let wait = 0;
    if (!signs) {
      signs = { website: decoy.value, written_ms: Math.min(MOST_MS, Math.round(spent())), mentions: chosenOf() };
      keepDraft();
    }
    try {
      await send(area.value, key, signs);
      drafts.write(stored, null);
      area.value = decoy.value = "";
      shown.hidden = true;
      key = newKey();
      signs = undefined;
      counted();
      done?.();
    } catch (error) {
      const { response } = /** @type {{response?: Response}} */ (error);
      const told = words.reason(error);
      noted(response ? told : `${told} ${t("kept")}`);
      wait = Number(response?.headers.get("Retry-After"));
    }
    area.readOnly = false;
    button.ariaDisabled = null;
    button.textContent = does;
    if (wait) holdBack(performance.now() + 1_000 * wait);
  }

  /**
   * Disable the button until a time and count down its seconds; a press after that sends.
   * @param {number} end By `performance.now()`.
   */
  function holdBack(end) {
    const left = Math.ceil((end - performance.now()) / 1_000);
    if (left > 0) {
      button.ariaDisabled = "true";
      const seconds = new Intl.NumberFormat(locale, { style: "unit", unit: "second" }).format(left);
      // Screen readers must not announce each second.
      button.replaceChildren(does, h("span", { "aria-hidden": "true" }, ` · ${seconds}`));
      setTimeout(holdBack, 1_000, end);
    } else {
      button.ariaDisabled = null;
      button.textContent = does;
      form.querySelector("[role=alert]")?.replaceWith(h("p", { role: "status", class: "note" }, t("canSend")));
    }
  }
  return form;
}

/**
 * Put a question in place of a button, and act once the reader confirms.
 * @param {EventTarget | null} pressed The button. @param {string} question @param {string} cancel @param {() => unknown} act
 */
export function ask(pressed, question, cancel, act) {
  const button = /** @type {HTMLButtonElement} */ (pressed);
  const back = () => {
    asked.replaceWith(button);
    button.focus();
  };
  const asked = h("span", { role: "group", class: "ask", "aria-label": question, onkeydown: whenTyped((event) => { if (event.key === "Escape") back(); }) },
    question, " ",
    h("button", { type: "button", part: "button", onclick: () => { back(); act(); } }, button.textContent), " ",
    h("button", { type: "button", part: "button", onclick: back }, cancel));
  button.replaceWith(asked);
  asked.querySelector("button")?.focus();
}
