// @ts-check
/** A form whose fields are data: what is wrong with a value stands at its field. */
import { Problem } from "./../embed/api.js";
import { h } from "./../embed/element.js";

/**
 * @typedef {Record<string, any>} Values
 * @typedef {object} Field
 * @property {string} name Its name in the API's body, and in what the API refuses.
 * @property {string} label
 * @property {"line" | "secret" | "lines" | "choice" | "tick"} [kind] A line, unless it says otherwise.
 * @property {string} [rule] What a value has to be.
 * @property {RegExp} [pattern] What a value has to be, where the API is not asked for it.
 * @property {Record<string, string>} [options] The values of a choice, in words.
 * @property {boolean} [isOptional]
 * @property {(values: Values) => boolean} [isAsked] Whether it is asked for beside these values.
 * @typedef {{field: string, code: string, detail: string}} Fault
 * @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Control
 */

/** Faults of the form of a value, which its rule says better than the API. */
const OF_FORM = new Set(["string_pattern_mismatch", "string_too_short", "string_too_long"]);

/** A problem as the API names it, at a field. @param {string} field @param {string} detail */
export const faultAt = (field, detail) => new Problem({ code: "invalid_request", errors: [{ field, code: "console", detail }] });

/** What a refusal says. @param {Problem} problem */
export const said = ({ code, body, message }) => (code === "offline" ? "Plaza does not answer. Try again." : body.detail || message || code);

/**
 * @param {object} given
 * @param {string} given.id What the ids of its parts begin with.
 * @param {Field[]} given.fields
 * @param {Values} given.values What they begin with.
 * @param {(values: Values) => Promise<unknown>} given.submit May throw Problem.
 * @param {(values: Values) => void} [given.changed] Is called with what the fields have.
 * @param {() => void} [given.cancel]
 * @param {...(Node | string)} more What stands below the fields.
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
    // A second press while the first is on its way is none.
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

/** A field's place in the form. @param {string} id @param {Field} field @param {any} value */
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
      // No browser fills in or keeps what is the site's.
      return /** @type {HTMLInputElement} */ (h("input", { ...plain, type: "password", autocomplete: "new-password" }));
    default:
      return /** @type {HTMLInputElement} */ (h("input", { ...plain, value: value || "", dir: "auto" }));
  }
}

/** @param {Place[]} places @returns {Values} */
const valuesOf = (places) => Object.fromEntries(places.map(({ field, read }) => [field.name, read()]));

/** What is wrong with a value before the API is asked. @param {Place} place @returns {Fault[]} */
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
