// @ts-check
/** Loads modules on demand; the build inlines this into each bundle. */

/**
 * The next address of each file that has failed: a browser remembers a failed import and requests
 * the module again only by another address.
 * @type {Record<string, string>}
 */
const again = {};

/** Import a file, also after a failure. @param {string} file @returns {Promise<any>} */
export function load(file) {
  const address = again[file] || file;
  return import(address).catch((error) => {
    again[file] = `${address}?`;
    throw error;
  });
}
