// @ts-check
/** A site's ways to sign readers in: services, and issuers of its own. */

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["ProviderAnswer"]} Service */
/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["IssuerAnswer"]} Issuer */
/** @typedef {import("./kept-list.js").Kind} Kind */
/** @typedef {import("./field-form.js").Field} Field */
/** @typedef {import("./field-form.js").Values} Values */

const KEY = /^[a-z0-9-]{1,20}$/;
/** @type {Field} */
const key = { name: "key", label: "Its name in addresses", rule: "1 to 20 lowercase letters, digits and hyphens. It stays as it is.", pattern: KEY };
const NEVER_SHOWN = "Plaza never shows it again. Each change needs it anew.";

/** @type {Kind} */
export const SERVICES = {
  id: "services",
  path: "providers",
  title: "Services to sign in by",
  about: "Readers sign in by OpenID Connect or by GitHub, and have an account at this site alone. A site has five services at most.",
  add: "Add a service",
  fields: [
    key,
    { name: "name", label: "Name that readers see", rule: "50 characters at most." },
    { name: "kind", label: "Kind", kind: "choice", options: { oidc: "OpenID Connect", github: "GitHub" } },
    { name: "issuer", label: "Issuer's address", rule: "As the service's tokens name it, to the letter, such as https://accounts.harbour.example. Without a query.", isAsked: isOpenId },
    { name: "client_id", label: "Client id", rule: "The service gives it when you register the redirect address below." },
    { name: "client_secret", label: "Client secret", kind: "secret", rule: NEVER_SHOWN },
  ],
  blank: { kind: "oidc" },
  nameOf: (/** @type {Service} */ { name }) => name,
  factsOf: (/** @type {Service} */ { key: own, kind, issuer, client_id }) => [own, kind === "github" ? "GitHub" : `OpenID Connect: ${issuer}`, `client id ${client_id}`],
  valuesOf: (/** @type {Service} */ { name, kind, issuer, client_id }) => ({ name, kind, issuer: kind === "oidc" ? issuer : "", client_id }),
  bodyOf: ({ key: _key, ...body }) => body,
  warningOf: (/** @type {Service} */ row, { kind, issuer }) =>
    (kind !== row.kind || (kind === "oidc" && issuer !== row.issuer)) && `${row.name} gets another issuer. Who signs in from then on is somebody new: nobody comes back to an account of before. Go on?`,
  removalOf: (/** @type {Service} */ { name }) => `Remove ${name}? Nobody signs in by it any more. Who has signed in writes on until their token ends, within 90 days.`,
  copied: "Redirect address, to register at the service",
  copiedOf: (/** @type {Service} */ { redirect_uri }) => redirect_uri,
  copiedBefore: ({ site, base }, own) => (KEY.test(own) ? `${base}/sites/${site}/providers/${own}/callback` : ""),
};

/** @type {Kind} */
export const ISSUERS = {
  id: "issuers",
  path: "issuers",
  title: "Accounts of your own",
  about: "Your pages sign in readers by tokens that your own issuer signs. A site has three issuers at most. To replace a secret without a gap, add it as another issuer with the same iss, and remove the old issuer later.",
  add: "Add an issuer",
  fields: [
    key,
    { name: "iss", label: "Issuer (iss) of its tokens", rule: "1 to 255 ASCII characters without blanks, such as https://harbour.example." },
    { name: "signs", label: "What verifies its tokens", kind: "choice", options: { secret: "A secret (HS256)", jwks_url: "Published keys (RS256, ES256)" } },
    { name: "secret", label: "Secret", kind: "secret", rule: `32 to 512 ASCII characters without blanks. ${NEVER_SHOWN}`, isAsked: ({ signs }) => signs === "secret" },
    { name: "jwks_url", label: "Address of the published keys", rule: "A public https address of 500 characters at most, such as https://harbour.example/jwks.json.", isAsked: ({ signs }) => signs === "jwks_url" },
    { name: "trust_email", label: "Its verified e-mail addresses are believed", kind: "tick" },
  ],
  blank: { signs: "secret" },
  nameOf: (/** @type {Issuer} */ { key: own }) => own,
  factsOf: (/** @type {Issuer} */ { iss, jwks_url, trust_email }) => [iss, jwks_url ? `keys at ${jwks_url}` : "a secret, not shown", trust_email ? "e-mail addresses are believed" : "no e-mail address is believed"],
  valuesOf: (/** @type {Issuer} */ { iss, jwks_url, trust_email }) => ({ iss, signs: jwks_url ? "jwks_url" : "secret", jwks_url, trust_email }),
  bodyOf: ({ key: _key, signs: _signs, ...body }) => body,
  warningOf: (/** @type {Issuer} */ row, { iss }) => iss !== row.iss && `${row.key} gets another iss. Its readers are new people from then on: nobody comes back to what they wrote before. Go on?`,
  removalOf: (/** @type {Issuer} */ { key: own }) => `Remove the issuer ${own}? Its tokens end within five seconds, and who has no other writes no more. What they wrote stays.`,
  copied: "Audience (aud) of its tokens",
  copiedOf: (/** @type {Issuer} */ { audience }) => audience,
  copiedBefore: ({ site }) => `plaza:${site}`,
};

/** @param {Values} values */
function isOpenId({ kind }) {
  return kind === "oidc";
}
