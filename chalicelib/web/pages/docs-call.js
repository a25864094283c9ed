// @ts-check
/** The form of an operation: sends the call, and shows what came of it and the command that does the same. */
import { block, h, inline } from "./docs-markup.js";
import { exampleOf, fieldsOf, opened, resolved, typeOf } from "./docs-schema.js";

/** @typedef {HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement} Field */
/** @typedef {{name: string, in: string, required: boolean, explode?: boolean, schema: any, description?: string}} Parameter */

/** @param {any} document_ @param {string} path @param {string} method @param {any} operation */
export function callForm(document_, path, method, operation) {
  /** @type {[Parameter, Field][]} */
  const fields = (operation.parameters || []).map((/** @type {any} */ given) => {
    const parameter = resolved(document_, given);
    return [parameter, fieldOf(document_, parameter)];
  });
  const [kind, media] = Object.entries(operation.requestBody?.content || {})[0] || ["", null];
  const body = media && bodyField(document_, kind, media);
  const status = h("p", { role: "status" });
  const result = h("div", { class: "result" });
  const button = /** @type {HTMLButtonElement} */ (h("button", {}, "Send"));
  const form = h("form", { class: "call" },
    ...fields.map(([parameter, field]) => labelled(parameter, field, document_)),
    body && h("label", {}, h("span", {}, "Body ", h("span", { class: "note" }, kind)), body),
    body && kind === "application/json" && opened(["Fields of the body"], () => fieldsOf(document_, media.schema)),
    h("p", {}, button), status, result);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    const [came, ...parts] = await send(request(document_, path, method, fields, kind, body));
    status.textContent = came;
    result.replaceChildren(...parts);
    button.disabled = false;
  });
  return form;
}

/** @param {any} document_ @param {Parameter} parameter @returns {Field} */
function fieldOf(document_, { schema, required, in: place }) {
  const choices = [schema, ...(schema.anyOf || [])].map((each) => resolved(document_, each));
  const values = choices.find((each) => each.enum)?.enum || (choices.some((each) => each.type === "boolean") ? [true, false] : null);
  if (values) return /** @type {Field} */ (h("select", { required }, !required && h("option", { value: "" }, ""), ...values.map((/** @type {unknown} */ each) => h("option", {}, String(each)))));
  const example = choices.find((each) => each.examples)?.examples[0] ?? schema.default;
  const isShown = example !== undefined && example !== null && place !== "header";
  return /** @type {Field} */ (h("input", { required, autocomplete: "off", spellcheck: "false", placeholder: isShown && String(example) }));
}

/** @param {Parameter} parameter @param {Field} field @param {any} document_ */
function labelled({ name, in: place, required, schema, description }, field, document_) {
  const note = [place, typeOf(document_, schema), required && "required"].filter(Boolean).join(", ");
  return h("label", {}, h("span", {}, h("code", {}, name), " ", h("span", { class: "note" }, note), ...(description ? [" ", ...inline(description)] : [])), field);
}

/** @param {any} document_ @param {string} kind @param {any} media @returns {Field} */
function bodyField(document_, kind, media) {
  if (kind === "application/octet-stream") return /** @type {Field} */ (h("input", { type: "file" }));
  const text = kind === "application/json" ? JSON.stringify(media.example ?? exampleOf(document_, media.schema), null, 2) : "";
  const area = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: Math.min(16, text.split("\n").length + 1), spellcheck: "false" }));
  area.value = text;
  return area;
}

/** @param {any} document_ @param {string} path @param {string} method @param {[Parameter, Field][]} fields @param {string} kind @param {Field | null} body */
function request(document_, path, method, fields, kind, body) {
  const server = new URL(document_.servers?.[0]?.url || "/", new URL("openapi.json", location.href)).href.replace(/\/$/, "");
  const query = new URLSearchParams();
  const headers = new Headers();
  let target = path;
  for (const [{ name, in: place, explode, schema }, { value }] of fields) {
    if (place === "path") target = target.replace(`{${name}}`, encodeURIComponent(value));
    else if (!value) continue;
    else if (place === "header") headers.set(name, value);
    else if (schema.type === "array" && explode !== false) for (const each of value.split(",")) query.append(name, each.trim());
    else query.set(name, value);
  }
  const token = /** @type {HTMLInputElement} */ (document.getElementById("token")).value.trim();
  if (token) headers.set("Authorization", `Bearer ${token}`);
  if (body) headers.set("Content-Type", kind);
  const sent = body instanceof HTMLInputElement ? body.files?.[0] : body?.value;
  return { url: `${server}${target}${query.size ? `?${query}` : ""}`, method: method.toUpperCase(), headers, body: sent };
}

/** What came of a call in words, and the parts of its answer. @param {{url: string, method: string, headers: Headers, body: any}} call @returns {Promise<[string, ...(Node | string)[]]>} */
async function send({ url, method, headers, body }) {
  const command = h("details", {}, h("summary", {}, "As a command"), block(curl(url, method, headers, body)));
  const start = performance.now();
  try {
    const answer = await fetch(url, { method, headers, body });
    const text = await answer.text();
    const took = Math.round(performance.now() - start);
    const told = [...answer.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    return [`${answer.status} ${answer.statusText} in ${took} ms`, text ? block(pretty(text)) : "", h("details", {}, h("summary", {}, "Headers"), block(told)), command];
  } catch (error) {
    return [`No answer: ${error instanceof Error ? error.message : error}`, command];
  }
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** The call for a shell, which has the token. @param {string} url @param {string} method @param {Headers} headers @param {any} body */
function curl(url, method, headers, body) {
  const quoted = (/** @type {string} */ text) => `'${text.replaceAll("'", "'\\''")}'`;
  const parts = ["curl", ...(method === "GET" ? [] : [`-X ${method}`])];
  headers.forEach((value, name) => parts.push(name === "authorization" ? '-H "Authorization: Bearer $TOKEN"' : `-H ${quoted(`${name}: ${value}`)}`));
  if (typeof body === "string") parts.push(`--data-raw ${quoted(body)}`);
  else if (body) parts.push(`--data-binary @${quoted(body.name)}`);
  return [...parts, quoted(url)].join(" ");
}
