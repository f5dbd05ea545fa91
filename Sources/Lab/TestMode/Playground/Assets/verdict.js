// What came of an answer: the verified elements or the reasons of the refusal, and every check.

import { byId, element, jsonBlock, name, names } from "./dom.js";
import { portrait, valueView } from "./values.js";

const OUTCOMES = { passed: "✓ passed", failed: "✕ failed", warning: "! warning", not_run: "– not run" };

/** In the order in which a verifier works. Every code is of one of them. */
const STAGES = [
  ["The request", /^(request|reader)\./],
  ["The envelope and the session", /^(envelope|jwe|session|vp_token|proximity|apple|wallet)\./],
  ["The response", /^(cbor|mdoc\.response)\./],
  ["The issuer", /^(cose|mdoc\.(issuer|issuer_auth|mso))\./],
  ["The issuer’s certificates", /^trust\./],
  ["The elements", /^mdoc\.(item|digest|element)\./],
  ["The device", /^mdoc\.device_/],
  ["Validity and revocation", /^(mdoc\.validity|revocation)\./],
  ["The zero-knowledge proof", /^zk\./],
  ["Requested data", /^policy\./],
];

export class VerdictView {
  constructor(configuration) {
    this.codes = new Map(configuration.codes.map((code) => [code.code, code]));
    this.definitions = new Map(configuration.documents.map((document) => [document.doc_type, document]));
  }

  clear() {
    for (const id of ["outcome", "result", "checks"]) byId(id).replaceChildren();
  }

  /** `expected` are the codes that the variant announces, or undefined where a real wallet answered. */
  show(session, expected) {
    const isVerified = session.status === "verified" && session.result !== null;
    byId("outcome").replaceChildren(this.banner(session, isVerified), ...this.comparison(session, expected));
    byId("result").replaceChildren(
      ...(isVerified ? session.result.documents.map((document) => this.document(document)) : this.reasons(session)));
    byId("checks").replaceChildren(
      element("h3", {}, "Every check"), ...this.checkLists(session.report),
      jsonBlock("The whole reply", session, { id: "reply" }));
  }

  banner(session, isVerified) {
    const code = session.last_error?.code;
    const text = isVerified ? "Verified" : session.status === "failed" ? "Rejected" : `Session ${session.status}`;
    return element(
      "p", { class: `banner ${isVerified ? "good" : "bad"}`, id: "banner" }, element("strong", {}, text),
      ...(code ? [" ", name(code)] : []));
  }

  comparison(session, expected) {
    if (expected === undefined) return [];
    const found = (session.last_error?.reasons ?? []).map((reason) => reason.code);
    const isSame = new Set(found).size === new Set(expected).size && expected.every((code) => found.includes(code));
    const text = isSame
      ? "As this way of answering announces."
      : "Another verdict than announced, which holds for the request that this page starts with.";
    return [element("p", { class: "hint" }, text)];
  }

  // MARK: Verified

  document(document) {
    const definition = this.definitions.get(document.doc_type);
    const spaces = Object.entries(document.elements);
    const images = spaces.flatMap(([, elements]) => Object.values(elements).map(portrait)).filter(Boolean);
    return element(
      "article", {},
      element("h3", {}, definition?.label ?? document.doc_type, " ", name(document.doc_type)),
      ...images,
      ...this.ages(document.age_over),
      ...spaces.map(([namespace, elements]) => this.elements(definition, namespace, elements)),
      ...this.absent("Missing", document.missing_elements),
      ...this.absent("Came unasked, and were dropped", document.unrequested_elements),
      this.facts(document));
  }

  elements(definition, namespace, elements) {
    const space = definition?.namespaces.find((candidate) => candidate.namespace === namespace);
    const label = (identifier) =>
      space?.elements.find((candidate) => candidate.identifier === identifier)?.label ?? identifier;
    return element(
      "dl", { class: "values", "aria-label": space?.label ?? namespace },
      ...Object.entries(elements).map(([identifier, value]) => element(
        "div", {}, element("dt", {}, label(identifier), " ", name(identifier)),
        element("dd", {}, valueView(value)))));
  }

  ages(answers) {
    return answers.map(({ threshold, answer, proved_by }) => element(
      "p", { class: `age-answer ${answer ? "good" : "bad"}` },
      element("strong", {}, `${threshold} or older: ${answer ? "yes" : "no"}`),
      " by ", name(proved_by.identifier)));
  }

  absent(title, references) {
    if (references.length === 0) return [];
    return [element("p", {}, `${title}: `, ...names(references.map(({ identifier }) => identifier)))];
  }

  /** A proof shows that a document is valid and not from when until when. */
  facts({ issuer, validity, proven_by, device_authentication, revocation }) {
    const date = (seconds) => new Date(seconds * 1000).toISOString().replace(/\.000Z$/, "Z");
    const place = [issuer.country, issuer.state_or_province].filter(Boolean).join(", ");
    const rows = [
      ["Issuer", `${issuer.common_name ?? "unnamed"}${place ? ` (${place})` : ""}`],
      ["Shown by", proven_by.replace("_", " ")],
      ...(validity === null ? [] : [
        ["Signed", date(validity.signed)],
        ["Valid", `${date(validity.valid_from)} to ${date(validity.valid_until)}`],
      ]),
      ["Device authentication", device_authentication], ["Revocation", revocation.replace("_", " ")],
    ];
    return element(
      "dl", { class: "facts" },
      ...rows.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  }

  // MARK: Refused

  reasons(session) {
    const reasons = session.last_error?.reasons ?? [];
    return reasons.map(({ code, clause, document }) => {
      const known = this.codes.get(code);
      return element(
        "article", { class: "reason" },
        element("h3", {}, known?.summary ?? code),
        element("p", {}, name(code), document === undefined ? "" : ` in document ${document + 1}`),
        element("p", { class: "hint" }, [clause, known?.remedy].filter(Boolean).join(" · ")));
    });
  }

  // MARK: Checks

  /** What is wrong first, then the rest folded: by stage what passed, and what was not run. */
  checkLists(report) {
    if (report === null) return [element("p", {}, "There is no report: nothing was checked.")];
    const all = [report.checks, ...report.documents.map(({ checks }) => checks)].flatMap((checks, index) =>
      checks.map((check) => ({ ...check, document: report.documents.length > 1 ? index : 0 })));
    const of = (...outcomes) => all.filter(({ outcome }) => outcomes.includes(outcome));
    const stages = STAGES.map(([title, pattern]) => [title, of("passed").filter(({ code }) => pattern.test(code))]);
    return [
      ...this.checkList(of("failed", "warning")),
      ...stages.filter(([, checks]) => checks.length > 0).map(([title, checks]) => element(
        "details", { class: "stage" },
        element("summary", {}, `✓ ${title}: ${checks.length} passed`), ...this.checkList(checks))),
      ...(of("not_run").length === 0 ? [] : [element(
        "details", { class: "stage" },
        element("summary", {}, `– ${of("not_run").length} not run`), ...this.checkList(of("not_run")))]),
    ];
  }

  checkList(checks) {
    if (checks.length === 0) return [];
    return [element("ul", { class: "checks" }, ...checks.map((check) => this.check(check)))];
  }

  /** In words, with code, clause and detail small. Of a check that was not run there is only its code. */
  check({ outcome, code, clause, detail, document }) {
    const known = this.codes.get(code);
    const sentence = outcome === "passed" ? known?.passed : outcome === "not_run" ? undefined : known?.summary;
    return element(
      "li", { class: outcome },
      element("span", { class: "mark" }, OUTCOMES[outcome]),
      element(
        "div", {},
        ...(sentence ? [element("div", {}, sentence, document > 0 ? ` (document ${document})` : "")] : []),
        ...(detail ? [element("div", { class: "detail" }, detail)] : []),
        element("div", { class: "clause" }, name(code), " · ", clause)));
  }
}
