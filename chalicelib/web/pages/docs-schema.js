// @ts-check
/** Schemas as lists that a reader opens, and examples of what they describe. */
import { h, inline } from "./docs-markup.js";

/** Schemas within an example that is nested deeper have no example. */
const DEEPEST = 6;

/** What a part of the document refers to, or the part itself. @param {any} document_ @param {any} part */
export function resolved(document_, part) {
  if (!part?.$ref) return part;
  return part.$ref.slice(2).split("/").reduce((/** @type {any} */ at, /** @type {string} */ name) => at[name.replaceAll("~1", "/").replaceAll("~0", "~")], document_);
}

/** An example of a schema: its own, or one of its type. @param {any} document_ @param {any} given @param {number} [depth] @returns {any} */
export function exampleOf(document_, given, depth = 0) {
  const schema = resolved(document_, given) || {};
  if (schema.examples?.length) return schema.examples[0];
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (schema.enum) return schema.enum[0];
  const choice = (schema.anyOf || schema.oneOf)?.find((/** @type {any} */ each) => each.type !== "null");
  if (choice) return exampleOf(document_, choice, depth);
  if (depth > DEEPEST) return null;
  switch (schema.type) {
    case "object": {
      const required = schema.required || [];
      const named = Object.entries(schema.properties || {}).filter(([name]) => required.includes(name));
      return Object.fromEntries(named.map(([name, each]) => [name, exampleOf(document_, each, depth + 1)]));
    }
    case "array": return schema.minItems === 0 || !schema.minItems ? [exampleOf(document_, schema.items, depth + 1)].filter((each) => each !== null) : Array(schema.minItems).fill(exampleOf(document_, schema.items, depth + 1));
    case "integer": case "number": return schema.minimum ?? 0;
    case "boolean": return false;
    case "string": return schema.format === "date-time" ? "2026-01-01T12:00:00Z" : "";
    default: return null;
  }
}

/** A schema's type in words: "integer, 1 to 200". @param {any} document_ @param {any} given @returns {string} */
export function typeOf(document_, given) {
  const schema = resolved(document_, given) || {};
  const choices = schema.anyOf || schema.oneOf;
  if (choices) return [...new Set(choices.map((/** @type {any} */ each) => typeOf(document_, each)))].join(" or ");
  if (schema.enum) return schema.enum.map((/** @type {unknown} */ each) => JSON.stringify(each)).join(", ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.type === "array") return `array of ${typeOf(document_, schema.items || {})}`;
  const name = given?.$ref && schema.type === "object" ? given.$ref.split("/").pop() : schema.format || schema.type || "any";
  return [name, range(schema.minimum, schema.maximum), range(schema.minLength, schema.maxLength, " characters")].filter(Boolean).join(", ");
}

/** @param {number | undefined} least @param {number | undefined} most @param {string} [unit] */
function range(least, most, unit = "") {
  if (least === undefined && most === undefined) return "";
  if (least === undefined) return `at most ${most}${unit}`;
  return most === undefined ? `at least ${least}${unit}` : `${least} to ${most}${unit}`;
}

/** The object that a schema has, or has one of, within nulls and arrays. @param {any} document_ @param {any} given @returns {any[]} */
function objectsOf(document_, given) {
  const schema = resolved(document_, given) || {};
  if (schema.properties) return [schema];
  if (schema.items) return objectsOf(document_, schema.items);
  if (schema.additionalProperties?.$ref) return objectsOf(document_, schema.additionalProperties);
  return (schema.anyOf || schema.oneOf || []).flatMap((/** @type {any} */ each) => objectsOf(document_, each));
}

/** The fields of a schema, each with its own behind a press; null without fields. @param {any} document_ @param {any} given @returns {HTMLElement | null} */
export function fieldsOf(document_, given) {
  const objects = objectsOf(document_, given);
  if (!objects.length) return null;
  const lists = objects.map((schema) => h("ul", { class: "fields" }, ...Object.entries(schema.properties).map(([name, each]) => field(document_, name, each, (schema.required || []).includes(name)))));
  return h("div", {}, ...lists);
}

/** @param {any} document_ @param {string} name @param {any} given @param {boolean} isRequired */
function field(document_, name, given, isRequired) {
  const schema = resolved(document_, given) || {};
  const note = [typeOf(document_, given), isRequired && "required"].filter(Boolean).join(", ");
  const said = given.description || schema.description;
  const head = [h("code", {}, name), " ", h("span", { class: "note" }, note)];
  const text = said && h("span", { class: "said" }, " ", ...inline(said));
  return h("li", {}, ...(objectsOf(document_, given).length ? [opened(head, () => fieldsOf(document_, given)), text] : [...head, text]));
}

/** Details whose content is made when a reader opens them. @param {(Node | string)[]} head @param {() => Node | null} make */
export function opened(head, make) {
  const details = /** @type {HTMLDetailsElement} */ (h("details", {}, h("summary", {}, ...head)));
  details.addEventListener("toggle", () => details.append(make() || ""), { once: true });
  return details;
}

/** What an operation answers. @param {any} document_ @param {any} operation */
export function answers(document_, operation) {
  const rows = Object.entries(operation.responses).map(([status, given]) => {
    const response = resolved(document_, given);
    const codes = response["x-problem-codes"] || [];
    const [schema] = Object.values(response.content || {}).map((/** @type {any} */ each) => each.schema);
    const head = [h("b", {}, status), " ", ...inline(response.description), ...codes.flatMap((/** @type {string} */ code) => [" ", h("code", {}, code)])];
    const hasFields = schema && !codes.length && objectsOf(document_, schema).length > 0;
    return h("li", {}, ...(hasFields ? [opened(head, () => fieldsOf(document_, schema))] : head));
  });
  return h("section", {}, h("h3", {}, "Answers"), h("ul", { class: "answers" }, ...rows));
}
