// @ts-check
/** A button that opens a choice of emoji, for the keyboard as well as for a pointer. */
import { h } from "./element.js";
import { whenTyped } from "./keyboard.js";

/** @typedef {{key: string, emoji: string, isOn: () => boolean, press: () => void}} Choice */

/**
 * Make the button and its choices; `draw` marks the choices that are on.
 * @param {string} name Labels both. @param {Choice[]} choices At least one.
 */
export function picker(name, choices) {
  const buttons = choices.map(({ emoji, press }) => h("button", { part: "button", onclick: () => { close(true); press(); } }, emoji));
  const list = h("span", { class: "choices", role: "group", "aria-label": name, hidden: true, onkeydown: whenTyped(walk) }, ...buttons);
  const opener = h("button", { part: "button", class: "opener", "aria-label": name, title: name, "aria-expanded": "false", onclick: () => (list.hidden ? open() : close(true)) }, "☺+");
  const place = h("span", { class: "picker", onfocusout: left, onmousedown: stay }, opener, list);

  function open() {
    list.hidden = false;
    opener.setAttribute("aria-expanded", "true");
    buttons[0].focus();
  }

  /** @param {boolean} goesBack Whether the opener takes the focus. */
  function close(goesBack) {
    list.hidden = true;
    opener.setAttribute("aria-expanded", "false");
    if (goesBack) opener.focus();
  }

  /** @param {FocusEvent} event */
  function left({ relatedTarget }) {
    if (!list.hidden && !place.contains(/** @type {Node | null} */ (relatedTarget))) close(false);
  }

  /**
   * Prevent a mouse from moving the focus: Safari focuses no pressed button, so
   * that `focusout` would close the list before the click.
   * @param {Event} event
   */
  function stay(event) {
    event.preventDefault();
  }

  /** @param {KeyboardEvent} event */
  function walk(event) {
    const at = buttons.indexOf(/** @type {HTMLElement} */ (event.target));
    const forward = getComputedStyle(list).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
    /** @type {Record<string, number>} */
    const ways = { ArrowLeft: -1, ArrowRight: -1, ArrowUp: -1, ArrowDown: 1, [forward]: 1, Home: -at, End: buttons.length - 1 - at };
    if (event.key === "Escape") close(true);
    else if (event.key in ways) buttons[(at + ways[event.key] + buttons.length) % buttons.length].focus();
    else return;
    event.preventDefault();
    // Otherwise an element around the picker would act on Escape, too.
    event.stopPropagation();
  }

  return {
    place,
    draw: () => choices.forEach((choice, at) => buttons[at].setAttribute("aria-pressed", String(choice.isOn()))),
  };
}
