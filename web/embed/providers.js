// @ts-check
/** Signing in by a provider of the site: loaded where a site has providers, or by who comes back from one. */
import { h } from "./element.js";
import { withMatters } from "./matters.js";
import provider from "./words/en/provider.js";

/** @typedef {import("./plaza-api.js").components["schemas"]} Schemas */
/** @typedef {import("./words.js").Words} Words */

/**
 * Offer readers to sign in by the providers of a site, beside an invitation; say what has failed to who comes back without.
 * @param {HTMLElement} invitation @param {Words} shared @param {string} site The site's address in the API. @param {Schemas["OfferedSignIn"]["providers"]} offered
 */
export async function offerProviders(invitation, shared, site, offered) {
  const { t, reason } = await withMatters(shared, { provider });
  const back = new URLSearchParams({ return_to: location.href.split("#")[0] });
  for (const { key, name } of offered) {
    invitation.append(" ", h("a", { class: "provider", part: "button provider", href: `${site}/providers/${key}/sign-in?${back}` }, t("signInBy", { name })));
  }
  const failed = location.hash.match(/^#plaza-sign-in=(\w+)$/)?.[1];
  if (!failed) return;
  history.replaceState(history.state, "", location.href.split("#")[0]);
  invitation.append(h("p", { role: "alert" }, reason({ code: failed })));
}
