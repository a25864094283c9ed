// @ts-check
/** Upload and download of files of any size, in parts. */
import { Problem } from "./../embed/api.js";
import { h } from "./../embed/element.js";
import { API, ask } from "./session.js";

/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["ImportAnswer"]} Import */
/** @typedef {import("./../embed/plaza-api.js").components["schemas"]["DiscussionFileAnswer"]} ExportFile */

/** The part size of Plaza's S3 bucket, in bytes; S3 checks the digest of each part. */
const PART_BYTES = 8 * 1024 * 1024;

/**
 * Begin an import as a trial, and send its file; return the import. Throws Problem.
 * @param {string} path @param {File} file @param {Record<string, unknown>} options
 * @param {(share: number) => void} tell Receives the share that is sent, from 0 to 1.
 * @returns {Promise<Import>}
 */
export async function upload(path, file, options, tell) {
  const digests = [];
  for (let start = 0; start < file.size; start += PART_BYTES) {
    const digest = await digestOf(file.slice(start, start + PART_BYTES));
    if (digest) digests.push(digest);
  }
  /** @type {Import} */
  const begun = await ask(path, { method: "POST", body: { ...options, length: file.size, dry_run: true, part_sha256: digests } });
  const here = `${path}/${begun.id}`;
  for (const part of begun.parts) {
    const start = (part.number - 1) * begun.part_bytes;
    const bytes = file.slice(start, start + begun.part_bytes);
    await put(here, part, bytes).catch(async () => {
      // The connection may break, and a signed address ends after an hour: try once more.
      const { parts } = /** @type {Import} */ (await ask(here));
      const missing = parts.find(({ number }) => number === part.number);
      if (missing) await put(here, missing, bytes);
    });
    tell(part.number / begun.parts.length);
  }
  return begun;
}

/** Throw the Problem `offline`: there was no answer, or a part of one. @returns {never} */
const silent = () => { throw new Problem({}); };

/**
 * Fetch an export's file piece by piece, and save it under its name. Throws Problem.
 * @param {ExportFile} file
 */
export async function download({ name, pieces }) {
  const parts = [];
  for (const piece of pieces) {
    // The piece has Plaza's public address; the console may call the API at another.
    const answer = await fetch(`${API}${piece.slice(piece.indexOf("/sites/"))}`, { headers: await bearer(), credentials: "omit" }).catch(silent);
    if (!answer.ok) throw new Problem(await answer.json().catch(() => ({ code: "unavailable" })), answer);
    parts.push(await answer.blob().catch(silent));
  }
  const address = URL.createObjectURL(new Blob(parts, { type: "application/gzip" }));
  h("a", { href: address, download: name }).click();
  // The browser has read the file by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Send a part to Plaza, or to its bucket. @param {string} path @param {Import["parts"][0]} part @param {Blob} bytes */
async function put(path, { number, url, headers }, bytes) {
  const isOwn = !("x-amz-checksum-sha256" in headers);
  const address = isOwn ? `${API}${path}/parts/${number}` : url;
  const own = isOwn ? await bearer() : {};
  const answer = await fetch(address, { method: "PUT", body: bytes, headers: { ...headers, ...own }, credentials: "omit" }).catch(silent);
  if (!answer.ok) throw new Problem(await answer.json().catch(() => ({ code: "unavailable" })), answer);
}

/** Return the caller's header; if the token has ended, wait for the caller's sign-in. */
async function bearer() {
  await ask("/me");
  return { Authorization: `Bearer ${await window.plaza?.token?.()}` };
}

/**
 * Throw a Problem: the file was changed or removed after the publisher chose it.
 * @returns {never}
 */
const unreadable = () => { throw new Problem({ code: "console", title: "The file cannot be read. Choose it again." }); };

/**
 * Return the SHA-256 of a part, in hex; undefined on a page of plain http, where browsers lack
 * `crypto.subtle`. Throws Problem if the file cannot be read.
 * @param {Blob} part
 */
async function digestOf(part) {
  const digest = await crypto.subtle?.digest("SHA-256", await part.arrayBuffer().catch(unreadable));
  return digest && [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
