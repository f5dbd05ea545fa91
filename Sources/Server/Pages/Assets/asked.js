// What is asked, as a person reads it: ages first, and one row for elements that belong together.

import { element, icon } from "./dom.js";

/** The groups with a drawing each, and the elements in them. A group of one element has that element's name. */
const GROUPS = [
  ["name", "lines", /^(family|given|birth|alias)_name|^name_(suffix|prefix)|_name_national_character$/],
  ["portrait", "person", /^portrait|^(face|photo)$|^(enrolment_portrait|signature_usual_mark|biometric)/],
  ["birth", "date", /^birth_?(date|place)|^place_of_birth|^age_(in_years|birth_year)|^birth_(city|state|country)/],
  ["address", "home", /^resident_|_address$/],
  ["driving", "car", /^driving_privileges|^un_distinguishing_sign|^domestic_/],
  ["document", "document", /^document_number|^(issue|issuance|expiry)_date|^issuing_|_administrative_number$|^administrative_number/],
];

const agesOf = ({ age_over, elements }) => [
  ...age_over, ...elements.map(({ identifier }) => /^age_over_(\d\d)$/.exec(identifier)?.[1]).filter(Boolean).map(Number),
].sort((a, b) => a - b);

const isAge = ({ identifier }) => /^age_over_\d\d$/.test(identifier);

/** The title names the document and who asks; or the age, if that is all. */
export function titleOf({ relying_party: name, documents }, language, text) {
  const ages = [...new Set(documents.flatMap(agesOf))];
  const isAgeAlone = ages.length === 1 && documents.every(({ elements }) => elements.every(isAge));
  if (isAgeAlone) return text("title-age", { name, age: ages[0] });
  const source = documents.length === 1 ? language.sources[documents[0].doc_type] : undefined;
  return text("title", { name, source: source ?? language.sources.wallet });
}

/** The purpose in the page's language, by the person's region if there are several, else as it was given. */
export function purposeOf({ purpose = "", purpose_translations: translations = {} }, tag) {
  const texts = Object.entries(translations).map(([name, text]) => [name.toLowerCase(), text]);
  const base = (name) => name.split("-")[0];
  const regional = navigator.languages.map((name) => name.toLowerCase()).filter((name) => base(name) === tag);
  const found = [...regional, tag].map((wanted) => texts.find(([name]) => name === wanted)).find(Boolean)
    ?? texts.find(([name]) => base(name) === tag);
  return found === undefined ? purpose : found[1];
}

/** The rows of a document's elements. */
export function askedRows(asked, language, text) {
  const nameOf = ({ identifier, label }) => {
    const own = language.elements[identifier];
    return element("span", own ? {} : { lang: "en" }, own ?? label);
  };
  /** An element's names, with what is said of it. */
  const described = ({ identifier, label, alternatives }) => [{ identifier, label }, ...alternatives]
    .flatMap((name, index) => (index > 0 ? [" / ", nameOf(name)] : [nameOf(name)]));
  const marks = ({ is_kept, required }) => [is_kept ? "is-kept" : null, required ? null : "is-optional"]
    .filter(Boolean).map((name) => text(name));
  const ages = new Map(agesOf(asked).map((age) => [age, asked.elements.find((one) => one.identifier === `age_over_${age}`)]));
  const rows = [...ages].map(([age, one]) => row(element("i", { "aria-hidden": "true" }, `${age}+`),
    [text("age-over", { age })], [text("age-about"), ...(one ? marks(one) : [])]));
  const groups = new Map();
  for (const one of asked.elements.filter((one) => !isAge(one))) {
    const [name, drawing] = GROUPS.find(([, , pattern]) => pattern.test(one.identifier)) ?? [one.identifier, "lines"];
    if (!groups.has(name)) groups.set(name, { drawing, elements: [] });
    groups.get(name).elements.push(one);
  }
  for (const [name, { drawing, elements }] of groups) {
    const sign = element("i", { "aria-hidden": "true" }, icon(drawing));
    const said = elements.map((one) => marks(one).join(", "));
    const isSame = said.every((words) => words === said[0]);
    if (elements.length === 1) {
      rows.push(row(sign, described(elements[0]), marks(elements[0])));
      continue;
    }
    const parts = elements.flatMap((one, index) => [
      ...(index > 0 ? [", "] : []), ...described(one), ...(isSame || !said[index] ? [] : [` (${said[index]})`]),
    ]);
    const group = element("span", {}, ...parts);
    rows.push(row(sign, [text(`group-${name}`)], isSame && said[0] ? [group, said[0]] : [group]));
  }
  return rows;
}

/** A row: its drawing, its title, and smaller what else is said of it. */
function row(sign, title, notes) {
  const small = notes.flatMap((note, index) => (index > 0 ? [" · ", note] : [note]));
  return element("li", { class: "row" }, sign,
    element("span", {}, ...title, ...(small.length > 0 ? [element("small", {}, ...small)] : [])));
}
