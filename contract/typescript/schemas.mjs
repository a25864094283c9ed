// Prints, as JSON, each pattern and schema of an OpenAPI document that JavaScript refuses:
// patterns as regular expressions with Unicode, schemas by ajv in its dialect of JSON Schema 2020-12.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";

const document = JSON.parse(readFileSync(process.argv[2], "utf8"));
const refused = [];
let patterns = 0;
let schemas = 0;

function attempt(place, work) {
  try {
    work();
  } catch (error) {
    refused.push(`${place}: ${error.message}`);
  }
}

function visit(value, place) {
  if (value === null || typeof value !== "object") return;
  if (typeof value.pattern === "string") {
    patterns += 1;
    attempt(place, () => new RegExp(value.pattern, "u"));
  }
  if (value.schema && typeof value.schema === "object") compile(`${place}/schema`);
  for (const [name, member] of Object.entries(value)) {
    visit(member, `${place}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

function compile(place) {
  schemas += 1;
  attempt(place, () => ajv.compile({ $ref: `plaza${place}` }));
}

// `strict: false`: OpenAPI has keywords of its own, such as `discriminator`.
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, "plaza");
for (const name of Object.keys(document.components.schemas)) compile(`#/components/schemas/${name}`);
visit(document, "#");
console.log(JSON.stringify({ refused, patterns, schemas }));
