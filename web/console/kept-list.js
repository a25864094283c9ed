// @ts-check
/** What a site keeps several of, as a list: each is added, changed and removed by its own call. */
import { Problem } from "./../embed/api.js";
import { h } from "./../embed/element.js";
import { copying } from "./copying.js";
import { faultAt, fieldForm, said } from "./field-form.js";
import { ask } from "./session.js";

/**
 * @typedef {import("./field-form.js").Field} Field
 * @typedef {import("./field-form.js").Values} Values
 * @typedef {{site: string, base: string}} About The site, and the address of Plaza, "" if it knows none.
 * @typedef {object} Kind What a list is of.
 * @property {string} id
 * @property {string} path Its place below the site's path, and its name in the answer.
 * @property {string} title
 * @property {string} about
 * @property {string} add
 * @property {Field[]} fields The first is `key`.
 * @property {Values} blank What the fields of a new row begin with.
 * @property {(row: any) => string} nameOf
 * @property {(row: any) => string[]} factsOf
 * @property {(row: any) => Values} valuesOf
 * @property {(values: Values) => Values} bodyOf
 * @property {(row: any, values: Values) => string | false} warningOf What a change does that is not seen from the fields.
 * @property {(row: any) => string} removalOf What a removal does.
 * @property {string} copied What a row has to be copied from it.
 * @property {(row: any) => string} copiedOf
 * @property {(about: About, key: string) => string} copiedBefore The same of a row that is not stored yet.
 */

/**
 * A section with the rows of a kind.
 * @param {Kind} kind @param {About} about @param {any[]} found
 * @param {(told: string) => void} say @param {(rows: any[]) => void} changed
 */
export function keptList(kind, about, found, say, changed) {
  const path = `/sites/${encodeURIComponent(about.site)}/${kind.path}`;
  const section = h("section", { class: "card", "aria-labelledby": kind.id });
  const title = h("h2", { id: kind.id, tabindex: "-1" }, kind.title);
  let rows = found;

  /** Show the rows, with the keyboard where it was. @param {HTMLElement | string} [at] The title, or the id of a button. */
  const show = (at) => {
    const list = rows.length ? h("ul", { class: "kept" }, ...rows.map(rowOf)) : h("p", {}, "There is none yet.");
    section.replaceChildren(title, h("p", {}, kind.about), list, h("button", { id: `${kind.id}-add`, onclick: () => edit(null) }, kind.add));
    // A row may be gone by now.
    if (at) (typeof at === "string" ? /** @type {HTMLElement | null} */ (section.querySelector(`[id="${at}"]`)) || title : at).focus();
  };

  /** @param {any[]} now @param {string} told */
  const become = (now, told) => {
    rows = now;
    show(title);
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
    const form = fieldForm({
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
    const warning = row && kind.warningOf(row, values);
    if (warning && !window.confirm(warning)) return;
    // The call would replace it, and another publisher may have added, changed or removed it meanwhile.
    const now = (await ask(path))[kind.path];
    const there = now.find((/** @type {any} */ each) => each.key === key);
    if (!row && there) throw faultAt("key", "This name is taken. Change what has it, or choose another.");
    if (row && JSON.stringify(there) !== JSON.stringify(row)) {
      changed((rows = now));
      throw new Problem({ code: "console", detail: `Another publisher has ${there ? "changed" : "removed"} it meanwhile. Cancel, and see the list as it is now.` });
    }
    const stored = await ask(`${path}/${encodeURIComponent(key)}`, { method: "PUT", body: kind.bodyOf(values) });
    become(row ? rows.map((each) => (each.key === key ? stored : each)) : [...rows, stored], `${kind.nameOf(stored)} is saved.`);
  };

  /** @param {any} row */
  const remove = async (row) => {
    if (!window.confirm(kind.removalOf(row))) return;
    try {
      await ask(`${path}/${encodeURIComponent(row.key)}`, { method: "DELETE" });
      become(rows.filter((each) => each !== row), `${kind.nameOf(row)} is removed.`);
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      say(said(problem));
    }
  };

  show();
  return section;
}
