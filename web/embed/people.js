// @ts-check
/**
 * Loads the cards of a discussion's people when the reader presses the first name, or when a look
 * for changes misses comments of people whom the reader may have blocked elsewhere.
 */
import { Problem } from "./api.js";
import { load } from "./load.js";

/** @typedef {Awaited<ReturnType<typeof import("./person.js").peopleFor>>} Cards */

/** The file of the cards; the build writes the address of this release. */
const PERSON = BUILT_PERSON;

/**
 * Load the cards; throws Problem `offline` if the file does not load.
 * @param {import("./person.js").Desk} desk @returns {Promise<Cards>}
 */
export async function loadPeople(desk) {
  /** @type {typeof import("./person.js")} */
  const people = await load(PERSON).catch(() => {
    throw new Problem({});
  });
  return people.peopleFor(desk);
}
