// @ts-check
/** The form of a reader's choices: the channels of each kind of notifications, and quiet hours. */
import { h, sheet } from "./element.js";
import { withMatters } from "./matters.js";
import { addStyles, showForm } from "./panel-form.js";
import { HOURS, hourNames, select } from "./time-choices.js";
import choices from "./words/en/choices.js";
import css from "./panel-form.css";
import tableCss from "./choices.css";

/** @typedef {import("./plaza-api.js").components["schemas"]["PreferencesAnswer"]} Preferences */
/** @typedef {Preferences["always_on"][number]} Kind */
/** @typedef {"in_app" | "email" | "push"} Channel */

const STYLES = sheet(css + tableCss);
const PATH = "/notifications/preferences";
/** The rows of the form, each with the kinds that a reader chooses at once. @type {Record<string, Kind[]>} */
const ROWS = {
  replies: ["comment.reply"],
  mentions: ["comment.mention"],
  discussions: ["comment.watched"],
  decisions: ["comment.approved", "comment.rejected"],
  followers: ["follow"],
  posts: ["post.new"],
  answers: ["post.comment"],
  reactions: ["post.reaction"],
  wallPosts: ["post.wall"],
  orders: ["order.paid", "order.shipped", "order.cancelled", "order.refunded"],
  work: ["page.published", "webhook.stopped", "batch.done", "campaign.exhausted", "campaign.unfunded", "campaign.ended"],
};
/** The first hour's value for no quiet hours. */
const NONE = "";
const EVENING = 22;
const MORNING = 7;

/**
 * Read the reader's choices; return a function that shows their form in a panel. Throws Problem.
 * @param {HTMLElement} panel @param {import("./inbox.js").Desk} desk @param {HTMLElement} button It leads here, and has the focus afterwards.
 */
export async function prepare(panel, { call, words, worker }, button) {
  const { locale, reason, t } = await withMatters(words, { choices });
  /** @type {Preferences} */
  const { kinds, always_on: alwaysOn, quiet } = await call(PATH, { anew: true });
  /** Without a worker of the page no browser gets push messages. @type {Channel[]} */
  const channels = worker ? ["in_app", "email", "push"] : ["in_app", "email"];
  const rows = Object.keys(ROWS).map(row);
  const hour = hourNames(locale);
  const begin = select(quiet?.from ?? NONE, [NONE, ...HOURS], (each) => each === NONE ? t("quietNone") : hour(each));
  const end = select(quiet?.to ?? MORNING, HOURS, hour);
  const field = (/** @type {string} */ key, /** @type {HTMLElement} */ input) => h("label", {}, h("span", {}, t(key)), input);
  const until = field("quietTo", end);
  const status = h("p", { role: "status" });
  const refusal = h("p", { role: "alert" });
  const form = h("form", { part: "form", onsubmit: save, oninput: changed },
    h("table", {},
      h("thead", {}, h("tr", {}, h("td"), ...channels.map((each) => h("th", { scope: "col" }, t(`by_${each}`))))),
      h("tbody", {}, ...rows.map(({ line }) => line))),
    h("fieldset", {}, h("legend", {}, t("quietTitle")), field("quietFrom", begin), until, h("small", {}, t("quietSaid"))),
    h("button", { class: "more", part: "button primary" }, t("choicesSave")), status, refusal);
  let isSending = false;
  let changes = 0;

  /** A row with a box for each channel. @param {string} name */
  function row(name) {
    // A deployment may lack a kind that this page knows.
    const own = ROWS[name].filter((kind) => kind in kinds);
    const label = t(`of_${name}`);
    const boxes = channels.map((channel) => {
      const box = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", "aria-label": `${label}: ${t(`by_${channel}`)}` }));
      box.addEventListener("change", () => { choose(own, channel, box.checked); paint(); });
      return box;
    });
    const paint = () => boxes.forEach((box, index) => {
      const on = own.filter((kind) => kinds[kind][channels[index]]).length;
      box.checked = on > 0;
      box.indeterminate = on > 0 && on < own.length;
      // E-mail and push are only for kinds that the inbox has.
      box.disabled = index ? !own.some((kind) => kinds[kind].in_app) : own.every((kind) => alwaysOn.includes(kind));
    });
    paint();
    return { line: h("tr", { hidden: !own.length }, h("th", { scope: "row" }, label), ...boxes.map((box) => h("td", {}, box))) };
  }

  /** @param {Kind[]} own @param {Channel} channel @param {boolean} isOn */
  function choose(own, channel, isOn) {
    for (const kind of own) {
      if (channel === "in_app") kinds[kind] = { in_app: isOn, email: isOn, push: isOn };
      else kinds[kind][channel] = isOn && kinds[kind].in_app;
    }
  }

  function changed() {
    changes++;
    until.hidden = begin.value === NONE;
    // Hours that end as they begin would be a day, or none.
    if (begin.value === end.value) end.value = String(Number(begin.value) === MORNING ? EVENING : MORNING);
    status.textContent = refusal.textContent = "";
  }

  /** @param {Event} event */
  async function save(event) {
    event.preventDefault();
    if (isSending) return;
    isSending = true;
    changed();
    const sent = changes;
    const hours = begin.value === NONE ? undefined : { from: Number(begin.value), to: Number(end.value) };
    await call(PATH, { method: "PUT", body: { kinds, quiet: hours } })
      .then(() => { if (sent === changes) status.textContent = t("choicesSaved"); }, (error) => { refusal.textContent = reason(error); });
    isSending = false;
  }

  return () => {
    addStyles(panel, STYLES);
    showForm(panel, button, t("choicesTitle"), t("choicesBack"), form);
    changed();
    /** @type {HTMLElement} */ (form.querySelector("input:enabled")).focus();
  };
}
