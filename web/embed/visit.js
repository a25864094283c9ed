// @ts-check
/** The first visit of a page without a discussion. */

/** The longest title that the API takes. */
const MOST_TITLE = 200;

/**
 * Ask the API to create the discussion of this page; logs the publisher's remedy if it refuses.
 * @param {string} node @param {(path: string, options: import("./api.js").Options) => Promise<unknown>} call Calls the node. @returns {Promise<boolean>} Whether there is a discussion now.
 */
export async function visit(node, call) {
  const canonical = /** @type {HTMLLinkElement | null} */ (document.querySelector("link[rel=canonical]"));
  const url = canonical?.href || location.origin + location.pathname;
  const title = [...document.title.trim()].slice(0, MOST_TITLE).join("") || url;
  try {
    await call("/visit", { method: "POST", body: { url, title } });
    return true;
  } catch (error) {
    const { code, body } = /** @type {import("./api.js").Problem} */ (error);
    const why = body?.detail || code;
    console.info(`Plaza: there is no discussion ${node} (${why}). Make it by PUT /nodes/${node}, or let visits of ${url} make it by the site's setting first_visits.`);
    return false;
  }
}
