// @ts-check
/** An editable list of a site's rows of one kind; each call adds, changes or removes one row. */
import { Problem } from "./../embed/api.js";
import { h } from "./../embed/element.js";
import { copying } from "./copying.js";
import { faultAt, fieldForm, said } from "./field-form.js";
import { ask } from "./session.js";

/**
 * @typedef {import("./field-form.js").Field} Field
 * @typedef {import("./field-form.js").Values} Values
 * @typedef {{site: string, base: string}} About `base`: Plaza's public address; "" if none is set.
 * @typedef {object} Kind A kind of rows.
 * @property {string} id
 * @property {string} path The end of the API's path, and the rows' name in the answer.
 * @property {string} title
 * @property {string} about
 * @property {string} add
 * @property {Field[]} fields The first is `key`.
 * @property {Values} blank The first values of a new row's fields.
 * @property {(row: any) => string} nameOf
 * @property {(row: any) => string[]} factsOf
 * @property {(row: any) => Values} valuesOf
 * @property {(values: Values) => Values} bodyOf
 * @property {(row: any, values: Values) => string | false} warningOf The question before a change with effects beyond the row; false for other changes.
 * @property {(row: any) => string} removalOf The question before a removal, with its effects.
 * @property {string} copied The label of a row's text to copy.
 * @property {(row: any) => string} copiedOf
 * @property {(about: About, key: string) => string} copiedBefore A new row's text to copy; "" if not known yet.
 */

/**
 * Return a section with the rows of a kind; `changed` receives the rows after each change.
 * @param {Kind} kind @param {About} about @param {any[]} found
 * @param {(told: string) => void} say @param {(rows: any[]) => void} changed
 */
export function keptList(kind, about, found, say, changed) {
  const path = `/sites/${encodeURIComponent(about.site)}/${kind.path}`;
  const section = h("section", { class: "card", "aria-labelledby": kind.id });
  const title = h("h2", { id: kind.id, tabindex: "-1" }, kind.title);
  let rows = found;
  /** The open form, or null: the end of another call leaves it. @type {HTMLElement | null} */
  let open = null;

  /**
   * Show the rows, and move the focus, if `at` is given.
   * @param {HTMLElement | string} [at] The title, or a button's id; without that button, the title.
   */
  const show = (at) => {
    open = null;
    const list = rows.length ? h("ul", { class: "kept" }, ...rows.map(rowOf)) : h("p", {}, "There is none yet.");
    section.replaceChildren(title, h("p", {}, kind.about), list, h("button", { id: `${kind.id}-add`, onclick: () => edit(null) }, kind.add));
    // A row may be gone by now.
    if (at) (typeof at === "string" ? /** @type {HTMLElement | null} */ (section.querySelector(`[id="${at}"]`)) || title : at).focus();
  };

  /** @param {any[]} now @param {string} told @param {HTMLElement | null} own The form of the call. */
  const become = (now, told, own) => {
    rows = now;
    if (!open || open === own) show(title);
    changed(rows);
    say(told);
  };

  /** @param {any} row */
  const rowOf = (row) => {
    const id = `${kind.id}-${row.key}`;
    const name = kind.nameOf(row);
    return h("li", {}, h("h3", { dir: "auto" }, name), h("p", { class: "meta" }, ...kind.factsOf(row).map((fact) => h("span", {}, fact))),
      copying(`${id}-copied`, kind.copied, kind.copiedOf(row), say).element,
      h("div", { class: "row" }, h("button", { id: `${id}-change`, "aria-label": `Change ${name}`, onclick: () => edit(row) }, "Change"),
        h("button", { class: "bad", "aria-label": `Remove ${name}`, onclick: () => remove(row) }, "Remove")));
  };

  /** Show the form of a row in place of the list. @param {any} row Null for a new one. */
  const edit = (row) => {
    const opener = row ? `${kind.id}-${row.key}-change` : `${kind.id}-add`;
    const keyOf = (/** @type {Values} */ values) => (row ? row.key : values.key);
    const copied = copying(`${kind.id}-copied`, kind.copied, row ? kind.copiedOf(row) : "", say);
    const form = open = fieldForm({
      id: `${kind.id}-form`,
      fields: row ? kind.fields.filter(({ name }) => name !== "key") : kind.fields,
      values: row ? kind.valuesOf(row) : kind.blank,
      submit: (values) => store(row, keyOf(values), values),
      changed: row ? undefined : (values) => copied.show(kind.copiedBefore(about, keyOf(values))),
      cancel: () => show(opener),
    }, copied.element);
    section.replaceChildren(title, h("h3", { id: `${kind.id}-does` }, row ? `Change ${kind.nameOf(row)}` : kind.add), form);
    form.setAttribute("aria-labelledby", `${kind.id}-does`);
    say("");
    /** @type {HTMLElement} */ (form.querySelector("input, select")).focus();
  };

  /** @param {any} row @param {string} key @param {Values} values */
  const store = async (row, key, values) => {
    const own = open;
    const warning = row && kind.warningOf(row, values);
    if (warning && !window.confirm(warning)) return;
    // The PUT replaces the row: another publisher's change since the list was read would be lost.
    const now = (await ask(path))[kind.path];
    const there = now.find((/** @type {any} */ each) => each.key === key);
    if (!row && there) throw faultAt("key", "This name is taken. Change what has it, or choose another.");
    if (row && JSON.stringify(there) !== JSON.stringify(row)) {
      changed((rows = now));
      throw new Problem({ code: "console", detail: `Another publisher has ${there ? "changed" : "removed"} it meanwhile. Cancel, and see the list as it is now.` });
    }
    const stored = await ask(`${path}/${encodeURIComponent(key)}`, { method: "PUT", body: kind.bodyOf(values) });
    become(row ? rows.map((each) => (each.key === key ? stored : each)) : [...rows, stored], `${kind.nameOf(stored)} is saved.`, own);
  };

  /** @param {any} row */
  const remove = async (row) => {
    if (!window.confirm(kind.removalOf(row))) return;
    try {
      await ask(`${path}/${encodeURIComponent(row.key)}`, { method: "DELETE" });
      become(rows.filter((each) => each !== row), `${kind.nameOf(row)} is removed.`, null);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      say(said(problem));
    }
  };

  show();
  return section;
}
