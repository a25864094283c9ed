// @ts-check
/** An act of a moderator, as a row of the log. */
import { h } from "./../embed/element.js";
import { since } from "./../embed/times.js";
import { addressOf } from "./choice.js";
import { when } from "./queue-card.js";

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["ActAnswer"]} Act */

/** @type {Record<string, string>} */
const DECIDED = { visible: "showed", hidden: "hid", pending: "held back", spam: "filed as spam" };

/**
 * Return the act in words; names are text, not markup.
 * @param {Act} act @returns {(Node | string)[]}
 */
function deed({ action, person, after }) {
  const name = () => h("b", {}, person ? person.name : "somebody");
  if (action === "edit") return ["edited a comment of ", name()];
  if (action === "delete") return ["deleted a comment of ", name()];
  if (action === "state") return [`${DECIDED[after.state || ""] || "decided on"} a comment of `, name()];
  /** @type {(Node | string)[][]} */
  const done = [];
  if (after.status === "ok") done.push(["gave ", name(), " their full standing"]);
  else if (after.status) done.push([`${after.status} `, name(), ...(after.until ? [" until ", when(after.until)] : [])]);
  if (after.badges) done.push(after.badges.length ? ["gave ", name(), ` the badges ${after.badges.join(", ")}`] : ["took the badges of ", name()]);
  if (after.note !== undefined) done.push(after.note ? ["noted of ", name(), `: ${after.note}`] : ["removed the note about ", name()]);
  return done.flatMap((each, place) => (place ? ["; ", ...each] : each));
}

/**
 * The label of each field that an act may change; "" for no label.
 * @type {Record<string, string>}
 */
const CHANGED = { state: "", status: "", until: "until: ", badges: "badges: ", note: "note: " };

/** Return each changed field, old and new; for an act without effect, a note. @param {Act} act */
function changes({ action, before, after, can_undo }) {
  const [was, is] = [before, after].map((fields) => /** @type {Record<string, string | string[] | null | undefined>} */ (fields));
  const shown = Object.keys(CHANGED).map((name) => [CHANGED[name], value(name, was[name]), value(name, is[name])]);
  const changed = shown.filter(([, old, now]) => old !== now).map(([name, old, now]) => h("span", {}, `${name}${old} → ${now}`));
  if (!changed.length && !can_undo && (action === "state" || action === "person")) return [h("span", {}, "it was so already")];
  return changed;
}

/** @param {string} name @param {string | string[] | null | undefined} field */
function value(name, field) {
  if (!field || !field.length) return "none";
  if (typeof field !== "string") return field.join(", ");
  return name === "until" ? new Date(field).toLocaleString() : field;
}

/** Return the time since an act, and its date and time. @param {string} at */
function ago(at) {
  const [count, unit] = since(new Date(at), new Date());
  const said = unit === "second" ? "just now" : new Intl.RelativeTimeFormat("en", { numeric: "auto" }).format(-count, unit);
  return h("time", { datetime: at }, `${said}, ${new Date(at).toLocaleString()}`);
}

/** Return links to related acts, and to the person's page. @param {Act} act */
function links({ site, node_id, comment_id, person, batch }) {
  return [
    node_id && comment_id && h("a", { href: addressOf("log", { site, node: node_id, comment: comment_id }) }, "All about this comment"),
    person && h("a", { href: addressOf("log", { site, person: person.id }) }, "All about ", person.name),
    person && h("a", { href: addressOf("person", { site, person: person.id }) }, "Their standing"),
    batch && h("a", { href: addressOf("log", { site, batch }) }, "The whole batch"),
  ];
}

/**
 * Return the row of an act; a press on its button calls `takeBack` with the row.
 * @param {Act} act @param {boolean} isUndone @param {(row: HTMLElement) => void} takeBack
 */
export function row(act, isUndone, takeBack) {
  const said = h("p", { class: "text", dir: "auto" }, h("b", {}, act.by ? act.by.name : "Somebody who is erased"), act.undoes ? " took back what was done, and " : " ", ...deed(act));
  const foot = h("div", { class: "row meta" }, ...links(act));
  const made = h("li", { class: "card", tabindex: "-1" }, h("div", { class: "meta" }, ago(act.at), ...changes(act)), said, act.reason && h("blockquote", { class: "parent", dir: "auto" }, act.reason), foot);
  if (isUndone) foot.prepend(h("span", {}, "Taken back."));
  else if (act.can_undo) foot.prepend(h("button", { onclick: () => takeBack(made) }, "Take back"));
  return made;
}
