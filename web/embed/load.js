// @ts-check
/** Files that come later, if their reader has need of them: each file has this in itself. */

/** The addresses of those that have failed: a browser asks for one of them by another address alone. @type {Record<string, string>} */
const again = {};

/** Import a file, also one that has failed before. @param {string} file @returns {Promise<any>} */
export function load(file) {
  const address = again[file] || file;
  return import(address).catch((error) => {
    again[file] = `${address}?`;
    throw error;
  });
}
