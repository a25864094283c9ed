// Posts a comment, pages through its thread and reads a report, with types of the API's document.
import createClient from "openapi-fetch";
import type { paths } from "./plaza.js";

const { PLAZA_URL: baseUrl = "", PLAZA_TOKEN: token } = process.env;
const plaza = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

const node = "harbour:moon";
const posted = await plaza.POST("/nodes/{node}/comments", {
  params: { path: { node }, header: { "Idempotency-Key": "one" } },
  body: { text: "The moon is up." },
});
if (posted.error) throw new Error(posted.error.code);
for (const text of ["So it is.", "Since when?", "Since nine."]) {
  await plaza.POST("/nodes/{node}/comments", {
    params: { path: { node } },
    body: { text, parent: posted.data.id },
  });
}

const readPage = async (id: string, cursor: string | null) => {
  const page = await plaza.GET("/nodes/{node}/comments/{comment}/thread", {
    params: { path: { node, comment: id }, query: { limit: 2, cursor } },
  });
  if (page.error) throw new Error(page.error.code);
  return page.data;
};
const texts: string[] = [];
let cursor: string | null = null;
do {
  const page = await readPage(posted.data.id, cursor);
  texts.push(...page.comments.map((comment) => comment.text ?? ""));
  cursor = page.next;
} while (cursor);

const report = await plaza.GET("/reports/campaigns/{campaign}", {
  params: {
    path: { campaign: process.env["PLAZA_CAMPAIGN"] ?? "" },
    query: { from: "2026-01-01", to: "2026-12-31" },
  },
});
if (report.error) throw new Error(report.error.code);
// With `Accept: text/csv` it would be a text.
if (typeof report.data === "string") throw new TypeError("a report in CSV");
const impressions = report.data.rows.reduce((sum, row) => sum + row.impressions, 0);
console.log(JSON.stringify({ texts, impressions }));
