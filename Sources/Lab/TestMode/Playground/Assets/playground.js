// The page: ask, answer, see the verdict.

import { API, Problem, loadConfiguration } from "./api.js";
import { AskForm } from "./ask.js";
import { byId, element, jsonBlock, show } from "./dom.js";
import { VariantList } from "./variants.js";
import { VerdictView } from "./verdict.js";

const REAL_WALLET =
  "Or let a real wallet answer, whose documents are rejected here: they are no mock authority’s. It is asked ";

class Playground {
  constructor(configuration) {
    this.api = new API(configuration.api_key);
    this.form = new AskForm(configuration);
    this.variants = new VariantList(configuration.variant_groups);
    this.verdict = new VerdictView(configuration);
    this.session = null;
    this.offerPresets(configuration.presets);
    this.on("ask", "submit", () => this.ask());
    this.on("mock", "submit", () => this.answerByMock());
    this.on("answer-browser", "click", () => this.answerByBrowser());
    this.on("look", "click", () => this.look());
    document.body.dataset.ready = "true";
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
        this.explain(error);
      } finally {
        document.body.removeAttribute("aria-busy");
      }
    });
  }

  explain(error) {
    byId("problem").textContent = error instanceof Problem ? error.text : `${error.name}: ${error.message}`;
    show("problem");
    byId("problem").scrollIntoView({ block: "nearest" });
  }

  // MARK: 1 and 2

  /** Requests that are ready, each behind a button. */
  offerPresets(presets) {
    for (const { name, label, request } of presets) {
      byId("presets").append(element("button", { type: "button", id: `preset-${name}` }, label));
      this.on(`preset-${name}`, "click", () => this.ask({ ...request, origin: location.origin }));
    }
    show("presets", presets.length > 0);
  }

  async ask(body = this.form.body) {
    this.variants.provesDocuments = body.documents.some(({ zk }) => zk !== undefined);
    this.session = await this.api.createSession(body);
    byId("session-id").textContent = this.session.id;
    const web = this.session.digital_credential_requests;
    byId("requests").replaceChildren(
      jsonBlock("What the backend sent to the server", body, { id: "sent" }),
      jsonBlock("requests: what the app or page gets", this.session.requests, { id: "requests-json", open: true }),
      ...(web.length > 0
        ? [jsonBlock("digital_credential_requests: for navigator.credentials.get", web, { id: "web-json" })]
        : []));
    this.offerAnswers();
    for (const [id, isShown] of [["request", true], ["answer", true], ["verdict", false]]) show(id, isShown);
    this.verdict.clear();
    this.focus("request-title");
  }

  offerAnswers() {
    const names = this.session.requests.map((request) => request.protocol);
    byId("answer-protocol").replaceChildren(...names.map((name) => element("option", { value: name }, name)));
    show("answer-protocol-field", names.length > 1);
    this.variants.fill();
    const web = this.session.digital_credential_requests;
    const link = this.session.requests[0].data.authorization_request;
    const hasNoAPI = typeof DigitalCredential === "undefined" || navigator.credentials === undefined;
    byId("answer-browser").disabled = hasNoAPI || web.length === 0;
    show("answer-browser", link === undefined);
    show("look", link !== undefined);
    show("wallet-link", link !== undefined);
    if (link !== undefined) byId("wallet-link").href = link;
    byId("browser-about").textContent = link !== undefined
      ? REAL_WALLET + "by a link, fetches the request and posts its answer by itself."
      : web.length === 0
        ? "Real answers to this protocol come from an app on an iPhone."
        : hasNoAPI
          ? "This browser has no Digital Credentials API."
          : REAL_WALLET + "through the Digital Credentials API.";
  }

  // MARK: 3 and 4

  async answerByMock() {
    const variant = this.variants.chosen;
    const answer = await this.api.mockAnswer(this.session, byId("answer-protocol").value, variant.name);
    await this.submit(answer, variant.codes);
  }

  async answerByBrowser() {
    // Passed on as the server made them: a changed request would have another transcript.
    const credential = await navigator.credentials.get({
      mediation: "required", digital: { requests: this.session.digital_credential_requests },
    });
    await this.submit({ protocol: credential.protocol, data: credential.data });
  }

  /** A wallet that was reached by a link or QR code posts its answer to the server. */
  async look() {
    const session = await this.api.readSession(this.session);
    if (session.status === "requires_input") {
      byId("browser-about").textContent = "No wallet has answered yet.";
    } else {
      this.conclude(session, undefined);
    }
  }

  async submit(answer, expected) {
    this.conclude(await this.api.submit(this.session, answer), expected);
  }

  conclude(session, expected) {
    show("verdict");
    this.verdict.show(session, expected);
    this.focus("verdict-title");
  }

  focus(id) {
    byId(id).focus({ preventScroll: true });
    byId(id).scrollIntoView({ block: "start" });
  }
}

try {
  new Playground(await loadConfiguration());
} catch (error) {
  byId("problem").textContent = `The page could not be set up: ${error.message}`;
  show("problem");
}
