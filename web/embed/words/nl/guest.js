// @ts-check
// Not yet read by a native speaker.
export default {
  asGuest: "Schrijven zonder account",
  guestName: "Je naam",
  guestGoesOn: "Verder",
  guestBack: "Terug",
  name_taken: "Iemand anders hier heeft deze naam al. Kies een andere.",
  guests_off: "Op deze site kan niemand meer zonder account schrijven.",
  invalid_request: "Deze naam kan niet. Kies een andere.",
};
