// The languages of the page. Each is a file of data.

/** By their tags (BCP 47), as their speakers call them. */
export const LANGUAGES = { en: "English", de: "Deutsch", es: "Español", fr: "Français", ja: "日本語" };

/** The wanted language, else `?lang=`, else the first of the person's that there is, else English. */
export async function chooseLanguage(wanted = new URLSearchParams(location.search).get("lang")) {
  const candidates = [wanted, ...navigator.languages].filter(Boolean).map((tag) => tag.toLowerCase().split("-")[0]);
  const tag = candidates.find((candidate) => Object.hasOwn(LANGUAGES, candidate)) ?? "en";
  const reply = await fetch(`/assets/${tag}.json`);
  return { tag, ...(await reply.json()) };
}
