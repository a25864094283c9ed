// @ts-check
/** Completes names of a discussion's people after an `@`. Loaded by the first `@`. */
import { h, sheet } from "./element.js";
import { whenTyped } from "./keyboard.js";
import css from "./completion.css";

/** @typedef {import("./form.js").Person} Person */
/** @typedef {{start: number, query: string}} Asked The text after the last `@` before the caret, and the index of that `@`. */

const STYLES = sheet(css);
const WAIT_MS = 150;
/** An `@` after a letter belongs to an e-mail address, except in scripts without spaces (`scripts.py`). */
const AT = /(?:^|[^\p{L}\p{N}_]|[\p{sc=Bopo}\p{sc=Hang}\p{sc=Hani}\p{sc=Hira}\p{sc=Kana}\p{sc=Khmr}\p{sc=Laoo}\p{sc=Mymr}\p{sc=Thai}\p{sc=Tibt}\p{sc=Yiii}])(@([^\s@][^@\n]{0,40}))$/u;
let lists = 0;

/**
 * Offer people below a field by the text after an `@`, and pass the choice to `chosen`.
 * @param {HTMLTextAreaElement} area @param {(query: string) => Promise<Person[]>} search @param {(person: Person) => void} chosen
 */
export function complete(area, search, chosen) {
  const id = `plaza-people-${++lists}`;
  const list = h("ul", { id, class: "people", role: "listbox", "aria-label": area.getAttribute("aria-label"), hidden: true });
  /** @type {Person[]} */
  let offered = [];
  let at = 0;
  let turn = 0;
  let timer = 0;
  /** The last query without a match; queries that begin with it are not sent. @type {string | null} */
  let none = null;

  /** @returns {Asked | null} */
  function asked() {
    if (area.selectionStart !== area.selectionEnd) return null;
    const found = area.value.slice(0, area.selectionStart).match(AT);
    return found && { start: area.selectionStart - found[1].length, query: found[2] };
  }

  function look() {
    const mine = ++turn;
    clearTimeout(timer);
    const wanted = asked();
    if (!wanted || (none !== null && wanted.query.startsWith(none))) return close();
    timer = window.setTimeout(async () => {
      const people = await search(wanted.query).catch(() => null);
      if (mine !== turn) return;
      // A failed call does not show that no name matches.
      none = people?.length === 0 ? wanted.query : null;
      show(people || []);
    }, WAIT_MS);
  }

  /** @param {Person[]} people */
  function show(people) {
    offered = people;
    at = 0;
    list.replaceChildren(...people.map((person, place) => h("li", {
      id: `${id}-${place}`,
      role: "option",
      dir: "auto",
      // The field keeps the focus.
      onpointerdown: (/** @type {Event} */ event) => event.preventDefault(),
      onclick: () => choose(person),
    }, person.name)));
    list.hidden = !people.length;
    mark();
  }

  function mark() {
    [...list.children].forEach((each, place) => each.setAttribute("aria-selected", String(place === at)));
    list.children[at]?.scrollIntoView({ block: "nearest" });
    if (list.hidden) area.removeAttribute("aria-activedescendant");
    else area.setAttribute("aria-activedescendant", `${id}-${at}`);
  }

  function close() {
    turn++;
    clearTimeout(timer);
    show([]);
  }

  /** @param {Person} person */
  function choose(person) {
    const wanted = asked();
    if (wanted) {
      chosen(person);
      area.setRangeText(`@${person.name} `, wanted.start, area.selectionEnd, "end");
      area.dispatchEvent(new Event("input"));
    }
    close();
    area.focus();
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    if (list.hidden) return;
    /** @type {Record<string, () => void>} */
    const acts = {
      ArrowDown: () => { at = (at + 1) % offered.length; mark(); },
      ArrowUp: () => { at = (at + offered.length - 1) % offered.length; mark(); },
      Enter: () => choose(offered[at]),
      Tab: () => choose(offered[at]),
      Escape: close,
    };
    const act = event.ctrlKey || event.metaKey || event.shiftKey ? null : acts[event.key];
    if (!act) return;
    event.preventDefault();
    // The form knows some of these keys, too.
    event.stopImmediatePropagation();
    act();
  }

  area.setAttribute("aria-autocomplete", "list");
  area.setAttribute("aria-controls", id);
  const root = /** @type {ShadowRoot} */ (area.getRootNode());
  root.adoptedStyleSheets = [...new Set([...root.adoptedStyleSheets, STYLES])];
  area.after(list);
  area.addEventListener("input", look);
  area.addEventListener("keydown", whenTyped(key), true);
  area.addEventListener("blur", close);
  look();
}
