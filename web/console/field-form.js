// @ts-check
/** A form made from a list of fields; each field shows its own faults. */
import { Problem } from "./../embed/api.js";
import { h } from "./../embed/element.js";

/**
 * @typedef {Record<string, any>} Values
 * @typedef {object} Field
 * @property {string} name Its name in the API's body and in the API's errors.
 * @property {string} label
 * @property {"line" | "secret" | "lines" | "choice" | "tick"} [kind] A line by default.
 * @property {string} [rule] The rule of a value, in words; the form shows it below the field.
 * @property {RegExp} [pattern] The pattern of a value; the form checks it before the call.
 * @property {Record<string, string>} [options] The values of a choice, each with its label.
 * @property {boolean} [isOptional]
 * @property {(values: Values) => boolean} [isAsked] Whether the form shows it; always by default.
 * @typedef {{field: string, code: string, detail: string}} Fault
 * @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control
 */

/** The error codes for which the form shows the field's rule in place of the API's words. */
const OF_FORM = new Set(["string_pattern_mismatch", "string_too_short", "string_too_long"]);

/**
 * Return a problem with one fault, at a field, as the API would.
 * @param {string} field @param {string} detail
 */
export const faultAt = (field, detail) => new Problem({ code: "invalid_request", errors: [{ field, code: "console", detail }] });

/** Return a problem's words for the publisher. @param {Problem} problem */
export const said = ({ code, body, message }) => (code === "offline" ? "Plaza does not answer. Try again." : body.detail || message || code);

/**
 * Return a form that checks its values, calls `submit`, and shows each fault at its field.
 * @param {object} given
 * @param {string} given.id The prefix of its parts' ids.
 * @param {Field[]} given.fields
 * @param {Values} given.values The fields' first values, by name.
 * @param {(values: Values) => Promise<unknown>} given.submit May throw Problem.
 * @param {(values: Values) => void} [given.changed] Receives the values, first and at each input.
 * @param {() => void} [given.cancel]
 * @param {...(Node | string)} more The nodes below the fields.
 */
export function fieldForm({ id, fields, values, submit, changed, cancel }, ...more) {
  const places = fields.map((field) => placeOf(`${id}-${field.name}`, field, values[field.name]));
  const alert = h("p", { role: "alert", class: "bad-text" });
  const save = h("button", { class: "good" }, "Save");
  const asked = () => places.filter(({ element }) => !element.hidden);
  const refresh = () => {
    const all = valuesOf(places);
    for (const { element, field } of places) element.hidden = field.isAsked?.(all) === false;
    changed?.(all);
  };
  /** @param {Problem} problem */
  const refuse = (problem) => {
    const apart = (problem.body.errors || []).filter((fault) => {
      const [name, line] = fault.field.split(".");
      const place = asked().find(({ field }) => field.name === name);
      place?.tell(wordsOf(place.field, fault, line));
      return !place;
    });
    if (apart.length) alert.textContent = apart.map(({ field, detail }) => `${field}: ${detail}`).join("; ");
    else if (!problem.body.errors?.length) alert.textContent = said(problem);
    asked().find(({ isRefused }) => isRefused())?.control.focus();
  };
  const form = h("form", { class: "fields", novalidate: true, oninput: refresh }, ...places.map(({ element }) => element), ...more,
    h("div", { class: "row" }, save, cancel && h("button", { type: "button", onclick: cancel }, "Cancel")), alert);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    // A press during a call does nothing.
    if (save.ariaDisabled) return;
    save.ariaDisabled = "true";
    alert.textContent = "";
    for (const { tell } of places) tell("");
    try {
      const faults = asked().flatMap(faultsOf);
      if (faults.length) throw new Problem({ code: "invalid_request", errors: faults });
      await submit(valuesOf(asked()));
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      refuse(problem);
    } finally {
      save.ariaDisabled = null;
    }
  });
  refresh();
  return form;
}

/** @typedef {ReturnType<typeof placeOf>} Place */

/**
 * Return a field's control and its element (label, rule and fault), with functions that read its
 * value and show its fault.
 * @param {string} id @param {Field} field @param {any} value
 */
function placeOf(id, field, value) {
  const { kind, label, rule, isOptional } = field;
  const isTick = kind === "tick";
  const control = controlOf(field, value, { id, required: !isOptional && !isTick, "aria-describedby": `${id}-rule ${id}-fault` });
  const fault = h("p", { id: `${id}-fault`, class: "bad-text" });
  const named = isTick ? h("label", { class: "tick" }, control, label) : h("label", { for: id }, label);
  const element = h("div", { class: "field" }, named, !isTick && control, h("p", { id: `${id}-rule`, class: "rule" }, rule), fault);
  const read = () => {
    if (control instanceof HTMLInputElement && isTick) return control.checked;
    if (kind === "lines") return control.value.split("\n").map((line) => line.trim()).filter(Boolean);
    return kind === "secret" ? control.value : control.value.trim();
  };
  /** @param {string} words */
  const tell = (words) => {
    fault.textContent = words;
    if (words) control.setAttribute("aria-invalid", "true");
    else control.removeAttribute("aria-invalid");
  };
  return { field, control, element, read, tell, isRefused: () => fault.textContent !== "" };
}

/** @param {Field} field @param {any} value @param {Record<string, unknown>} attributes @returns {Control} */
function controlOf({ kind, options }, value, attributes) {
  const plain = { ...attributes, autocomplete: "off", spellcheck: "false" };
  switch (kind) {
    case "choice":
      return /** @type {HTMLSelectElement} */ (h("select", attributes, ...Object.entries(options || {}).map(([each, words]) => h("option", { value: each, selected: each === value }, words))));
    case "tick":
      return /** @type {HTMLInputElement} */ (h("input", { ...attributes, type: "checkbox", checked: !!value }));
    case "lines":
      return /** @type {HTMLTextAreaElement} */ (h("textarea", { ...plain, rows: 3 }, (value || []).join("\n")));
    case "secret":
      // By `new-password`, the browser does not fill in a password of the publisher's own.
      return /** @type {HTMLInputElement} */ (h("input", { ...plain, type: "password", autocomplete: "new-password" }));
    default:
      return /** @type {HTMLInputElement} */ (h("input", { ...plain, value: value || "", dir: "auto" }));
  }
}

/** @param {Place[]} places @returns {Values} */
const valuesOf = (places) => Object.fromEntries(places.map(({ field, read }) => [field.name, read()]));

/**
 * Return the faults that the form finds before the call.
 * @param {Place} place @returns {Fault[]}
 */
function faultsOf({ field: { name, rule, pattern, isOptional, kind }, read }) {
  const value = read();
  if (value === "" && !isOptional && kind !== "tick") return [{ field: name, code: "console", detail: "Fill this in." }];
  return pattern && !pattern.test(String(value)) ? [{ field: name, code: "console", detail: rule || "" }] : [];
}

/** @param {Field} field @param {Fault} fault @param {string | undefined} line The number of the line at fault, from 0. */
function wordsOf({ rule }, { code, detail }, line) {
  const words = rule && OF_FORM.has(code) ? rule : detail.replace(/^Value error, /, "");
  return line === undefined ? words : `Line ${Number(line) + 1}: ${words}`;
}
