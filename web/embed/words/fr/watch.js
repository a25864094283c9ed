// @ts-check
// Not yet read by a native speaker.
export default {
  watch: "Me prévenir",
  watch_normal: "des réponses et des mentions",
  watch_watching: "de chaque commentaire",
  watch_muted: "des mentions seulement",
  watchSaved: "Enregistré.",
  too_many_watches: "Vous suivez ou ignorez déjà 1 000 discussions.",
  too_fast: "C’était trop rapide. Attendez un instant.",
};
