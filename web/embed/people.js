// @ts-check
/** People of a discussion; their cards are loaded once somebody asks for one. */
import { Problem } from "./api.js";
import { load } from "./load.js";

/** @typedef {Awaited<ReturnType<typeof import("./person.js").peopleFor>>} Cards */

/** What a card loads; the build writes the address of this release. */
const PERSON = BUILT_PERSON;

/** Throws Problem if it cannot be loaded. @param {import("./person.js").Desk} desk @returns {Promise<Cards>} */
export async function loadPeople(desk) {
  /** @type {typeof import("./person.js")} */
  const people = await load(PERSON).catch(() => {
    throw new Problem({});
  });
  return people.peopleFor(desk);
}
