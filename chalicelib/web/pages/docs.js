// @ts-check
/** The reference: the operations of the API's document by subject, each drawn when a reader opens it. */
import { answers } from "./docs-schema.js";
import { callForm } from "./docs-call.js";
import { h, inline, prose } from "./docs-markup.js";

const METHODS = ["get", "put", "post", "patch", "delete"];
/** @typedef {{row: HTMLDetailsElement, draw: () => void}} Row `draw` makes what is below its first line, once. */
/** @typedef {Row & {id: string, words: string}} Shown */

const [reference, search, told] = ["reference", "search", "told"].map((id) => /** @type {any} */ (document.getElementById(id)));
/** @type {Shown[]} */
const operations = [];

/** @param {any} document_ The API's document. */
function show(document_) {
  /** @type {Map<string, HTMLDetailsElement[]>} */
  const subjects = new Map(document_.tags.map((/** @type {{name: string}} */ { name }) => [name, []]));
  for (const [path, item] of Object.entries(document_.paths)) {
    for (const method of METHODS.filter((each) => item[each])) {
      const operation = item[method];
      const { row, draw } = rowOf(document_, path, method, operation);
      const subject = operation.tags[0];
      subjects.set(subject, [...(subjects.get(subject) || []), row]);
      operations.push({ id: operation.operationId, row, draw, words: [method, path, operation.operationId, operation.summary, operation.description, subject].join(" ").toLowerCase() });
    }
  }
  const parts = [...subjects].filter(([, rows]) => rows.length).map(([name, rows]) =>
    h("details", { class: "subject" }, h("summary", {}, h("h2", {}, name), h("span", { class: "note" }, String(rows.length))), ...rows));
  reference.replaceChildren(...parts);
  /** @type {any} */ (document.getElementById("version")).textContent = document_.info.version;
  say(operations.length);
}

/** @param {any} document_ @param {string} path @param {string} method @param {any} operation @returns {Row} */
function rowOf(document_, path, method, operation) {
  const row = /** @type {HTMLDetailsElement} */ (h("details", { class: "operation", id: operation.operationId },
    h("summary", {}, h("b", { class: "method" }, method.toUpperCase()), " ", h("code", {}, path), " ", h("span", {}, ...inline(operation.summary)))));
  row.addEventListener("toggle", () => {
    if (!row.open) return;
    draw();
    history.replaceState(null, "", `#${operation.operationId}`);
  });
  function draw() {
    if (row.childElementCount === 1) row.append(...bodyOf(document_, path, method, operation));
  }
  return { row, draw };
}

/** @param {any} document_ @param {string} path @param {string} method @param {any} operation */
function bodyOf(document_, path, method, operation) {
  return [...prose(operation.description), h("p", { class: "note" }, callers(operation)), callForm(document_, path, method, operation), answers(document_, operation)];
}

/** Who may call an operation, in words. @param {any} operation */
function callers({ security, "x-plaza-roles": roles }) {
  if (!security?.length) return "Needs no token.";
  const who = roles?.length ? `Needs a token with a role: ${roles.join(", ")}.` : "Needs a token.";
  return security.some((/** @type {object} */ each) => !Object.keys(each).length) ? "With or without a token." : who;
}

/** @param {number} count */
function say(count) {
  told.textContent = count === 1 ? "1 operation" : `${count} operations`;
}

/** Show the operations that have all words of the search, or all. */
function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = operations.filter((each) => words.every((word) => each.words.includes(word)));
  for (const { row } of operations) row.hidden = true;
  for (const { row } of found) row.hidden = false;
  for (const subject of reference.children) {
    const number = subject.querySelectorAll(".operation:not([hidden])").length;
    subject.querySelector("summary .note").textContent = String(number);
    subject.hidden = !number;
    subject.open = words.length > 0 && !subject.hidden;
  }
  say(found.length);
}

/** Open the operation or the subject that the address names: `#putNode`, `#/Comments/putNode`, `#/Comments`. */
function follow() {
  const id = decodeURIComponent(location.hash.slice(1)).split("/").pop();
  const named = operations.find((each) => each.id === id);
  if (!named) {
    const subject = [...reference.children].find((each) => each.querySelector("h2")?.textContent === id);
    if (subject) subject.open = true;
    subject?.scrollIntoView();
    return;
  }
  /** @type {HTMLDetailsElement} */ (named.row.parentElement).open = true;
  named.row.parentElement?.removeAttribute("hidden");
  named.row.hidden = false;
  // Before the browser says that it is open, which is a frame later: nothing moves.
  named.draw();
  named.row.open = true;
  named.row.scrollIntoView();
  /** @type {HTMLElement} */ (named.row.firstElementChild).focus();
}

try {
  const answer = await fetch("openapi.json");
  if (!answer.ok) throw new Error(`${answer.status} ${answer.statusText}`);
  show(await answer.json());
  search.addEventListener("input", filter);
  /** @type {any} */ (document.getElementById("choice")).addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  addEventListener("hashchange", follow);
  if (search.value) filter();
  follow();
} catch (error) {
  told.textContent = `The document could not be read: ${error instanceof Error ? error.message : error}`;
}
