// @ts-check
// Not yet read by a native speaker.
export default {
  access_denied: "Nie udało się: logowanie przerwano.",
  provider_failed: "Logowanie nie powiodło się. Spróbuj ponownie za chwilę.",
  unknown_provider: "Ta witryna nie oferuje już tego logowania.",
  takeAlong: "Tak, z tym, co piszę jako {names}",
  person_taken: "To, co napisał ten gość, należy do innego konta.",
};
