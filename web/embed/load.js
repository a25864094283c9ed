// @ts-check
/** Files that come later, if their reader has need of them: each file has this in itself. */

/** The addresses of files that have failed: a browser asks again by another address alone. @type {Record<string, string>} */
const again = {};

/** Import a file, also after a failure. @param {string} file @returns {Promise<any>} */
export function load(file) {
  const address = again[file] || file;
  return import(address).catch((error) => {
    again[file] = `${address}?`;
    throw error;
  });
}
