// @ts-check
/** The return from a sign-in at a provider of the site; the page loads this file then. */
import { h } from "./element.js";
import { kept, KEPT_AS } from "./kept.js";
import { withMatters } from "./matters.js";
import provider from "./words/en/provider.js";

/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {import("./words.js").Words} Words */

/**
 * Show why a sign-in failed, below the invitation, and remove the code from the page's address.
 * @param {HTMLElement} invitation @param {Words} shared
 */
export async function sayFailure(invitation, shared) {
  const { reason } = await withMatters(shared, { provider });
  const failed = location.hash.match(/^#plaza-sign-in=(\w+)$/)?.[1];
  if (!failed) return;
  history.replaceState(history.state, "", location.href.split("#")[0]);
  invitation.append(h("p", { role: "alert" }, reason({ code: failed })));
}

/**
 * The token and name of this tab's earlier guest at a site; empty without a valid token.
 * @param {string} site @returns {{token?: string, name?: string}}
 */
function guestBefore(site) {
  const token = kept("sessionStorage", KEPT_AS) || "";
  try {
    const said = JSON.parse(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")));
    return token.startsWith("guest.") && said.site === site && said.exp * 1000 > Date.now() ? { token, name: said.name } : {};
  } catch {
    return {};
  }
}

/**
 * Make a button that adds earlier comments to the account: those of this tab's guest, and those
 * with its address. Rejects with `{code, body}` if the API refuses.
 * @param {Words} shared
 * @param {string} site The site's address in the API.
 * @param {string} account The token of the account.
 * @param {() => void} begin
 * @returns {Promise<HTMLElement[]>} Nothing if there is nothing to take along.
 */
export async function takingAlong(shared, site, account, begin) {
  const { t, reason } = await withMatters(shared, { provider });
  const call = async (/** @type {RequestInit} */ options) => {
    const headers = { Authorization: `Bearer ${account}`, "Content-Type": "application/json" };
    const answer = await fetch(`${site}/people/me/joined`, { headers, credentials: "omit", ...options });
    const told = await answer.json();
    if (!answer.ok) throw { code: told.code, body: told };
    return told;
  };
  const { token, name } = guestBefore(site.split("/").slice(-1)[0]);
  /** @type {Schemas["PastAnswer"]} */
  const { people } = await call({});
  const names = [...new Set([...(name ? [name] : []), ...people.map((each) => each.name)])];
  if (!names.length) return [];
  const take = h("button", { class: "primary", part: "button primary" }, t("takeAlong", { names: names.join(", ") }));
  take.onclick = () => call({ method: "POST", body: JSON.stringify({ token }) }).then(
    begin,
    (error) => take.parentNode?.append(h("p", { role: "alert" }, reason(error))),
  );
  return [h("p", {}, take)];
}
