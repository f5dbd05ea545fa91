// A wallet in this browser: shows who asks for what, and answers as its person chooses.

import { API, Problem, loadConfiguration } from "./api.js";
import { byId, choice, element, name, show } from "./dom.js";
import { VariantList } from "./variants.js";
import { VerdictView } from "./verdict.js";

/** Who holds the documents: the mock person as she is, or of another age. */
const PERSONS = [["Ada Morgan, born 1990", null], ["Ada Morgan, 17 years old", 17], ["Ada Morgan, 70 years old", 70]];

/** The changes to the documents that make their person so old, by namespace. */
function changes(age) {
  if (age === null) return {};
  const birth = { full_date: `${new Date().getFullYear() - age}-01-01` };
  return {
    "org.iso.18013.5.1": { birth_date: birth }, "eu.europa.ec.eudi.pid.1": { birth_date: birth },
    "eu.europa.ec.av.1": { age_over_18: age >= 18 },
  };
}

class WalletPage {
  constructor(configuration) {
    this.api = new API(configuration.api_key);
    this.variants = new VariantList(configuration.variant_groups);
    this.verdict = new VerdictView(configuration);
    byId("person").append(...PERSONS.map(([label], index) => element("option", { value: index }, label)));
    this.on("open", "submit", () => this.read());
    this.on("mock", "submit", () => this.share());
    this.on("decline", "click", () => this.send({ error: "access_denied", state: this.request.state }));
    addEventListener("hashchange", () => this.follow());
    document.body.dataset.ready = "true";
    this.follow();
  }

  /** Reads the request of the link in this page's fragment. */
  follow() {
    if (location.hash.length < 2) return;
    byId("link").value = location.hash.slice(1);
    byId("open").requestSubmit();
  }

  /** One step at a time; what goes wrong is said above. */
  on(id, type, action) {
    byId(id).addEventListener(type, async (event) => {
      event.preventDefault();
      if (document.body.getAttribute("aria-busy") === "true") return;
      document.body.setAttribute("aria-busy", "true");
      show("problem", false);
      try {
        await action();
      } catch (error) {
        byId("problem").textContent = error instanceof Problem ? error.text : `${error.name}: ${error.message}`;
        show("problem");
        byId("problem").scrollIntoView({ block: "nearest" });
      } finally {
        document.body.removeAttribute("aria-busy");
      }
    });
  }

  async read() {
    for (const id of ["consent", "outcome"]) byId(id).replaceChildren();
    show("answer", false);
    this.request = await this.api.post("/v1/test/wallet_requests", { link: byId("link").value.trim() });
    const { client, documents, checks, protocol } = this.request;
    const isWrong = checks.some(({ outcome }) => outcome === "failed");
    byId("consent").replaceChildren(
      element("p", { id: "client" }, element("strong", {}, client.name ?? "A party without a certificate"),
        " asks for this:", element("br"), name(client.id ?? "no client identifier")),
      ...documents.map((document) => this.document(document)),
      element("h3", {}, "The request itself"),
      element("p", { id: "finding", class: isWrong ? "bad" : "good" },
        isWrong ? "A wallet must refuse this request." : "Nothing is wrong with this request."),
      ...this.verdict.checkLists({ checks, documents: [] }));
    const held = [...new Map(documents.map((document) => [document.doc_type, document.label]))];
    byId("documents").replaceChildren(
      ...held.map(([type, label]) => choice({ type: "checkbox", value: type, checked: true }, label)));
    byId("answer-protocol").replaceChildren(element("option", { value: protocol }, protocol));
    this.variants.fill();
    byId("variant").value = "good";
    this.variants.describe();
    show("answer");
    byId("request-title").focus();
  }

  document({ doc_type: type, label, elements }) {
    return element(
      "article", {}, element("h3", {}, label, " ", name(type)),
      element("ul", { class: "elements" }, ...elements.map(({ label, identifier, intent_to_retain: isKept }) =>
        element("li", {}, label, " ", name(identifier), isKept ? element("strong", {}, " will be kept") : null))));
  }

  async share() {
    const { session, protocol, request_uri: address } = this.request;
    const types = [...byId("documents").querySelectorAll("input:checked")].map((box) => box.value);
    const [, age] = PERSONS[byId("person").value];
    const { data } = await this.api.post("/v1/test/mock_responses", {
      session, protocol, request_uri: address, variant: this.variants.chosen.name, doc_types: types, changes: changes(age),
    });
    await this.send(data);
  }

  /** Posts to `response_uri`, and goes where the verifier's reply leads. */
  async send(fields) {
    // The server may have another name in this browser's address.
    const { pathname } = new URL(this.request.response_uri);
    const reply = await fetch(pathname, { method: "POST", body: new URLSearchParams(fields) });
    const body = await reply.json();
    if (!reply.ok && body.error === undefined) throw new Problem(body, reply.status);
    const isRefused = body.error !== undefined;
    const text = isRefused ? `Refused: ${body.error_description}`
      : fields.error ? "You did not share anything. The verifier knows." : "Shared. The verifier took the response.";
    byId("outcome").replaceChildren(
      element("p", { id: "banner", class: `banner ${isRefused ? "bad" : "good"}` }, element("strong", {}, text),
        ...(isRefused ? [" ", name(body.error)] : [])),
      element("p", { class: "hint" }, body.redirect_uri ? element("a", { href: body.redirect_uri }, "Go on")
        : "The page that showed the link goes on by itself. You may close this one."));
    show("answer", false);
    byId("outcome").scrollIntoView({ block: "nearest" });
    if (body.redirect_uri && !isRefused) location.assign(body.redirect_uri);
  }
}

try {
  new WalletPage(await loadConfiguration());
} catch (error) {
  byId("problem").textContent = `The page could not be set up: ${error.message}`;
  show("problem");
}
