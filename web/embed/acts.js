// @ts-check
/** Acts in a discussion: forms for texts, and the words of readers and moderators who are signed in, for whom it is loaded. */
import { ask, FORM_STYLES, FORM_WORDS, textForm } from "./form.js";
import acts from "./words/en/acts.js";

export { ask, FORM_STYLES, textForm };
export const ACT_WORDS = { ...FORM_WORDS, acts };
