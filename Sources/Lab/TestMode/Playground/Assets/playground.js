// The page: ask, answer, see the verdict.

import { API, Problem, loadConfiguration } from "./api.js";
import { AskForm } from "./ask.js";
import { Contents } from "./contents.js";
import { byId, element, jsonBlock, show } from "./dom.js";
import { VariantList } from "./variants.js";
import { VerdictView } from "./verdict.js";

const REAL_WALLET =
  "Or let a real wallet answer, whose documents are rejected here: they are no mock authority’s. It is asked ";

class Playground {
  constructor(configuration) {
    this.api = new API(configuration.api_key);
    this.contents = new Contents(this.api);
    this.form = new AskForm(configuration);
    this.variants = new VariantList(configuration.variant_groups);
    this.verdict = new VerdictView(configuration);
    this.session = null;
    this.offerPresets(configuration.presets);
    this.on("ask", "submit", () => this.ask());
    this.on("mock", "submit", () => this.answerByMock());
    this.on("answer-browser", "click", () => this.answerByBrowser());
    this.on("look", "click", () => this.look());
    this.on("copy", "click", () => this.copy());
    this.on("hosted", "click", () => this.openHostedPage());
    byId("protocols").addEventListener("change", () => this.restrictPresets());
    this.restrictPresets();
    document.body.dataset.ready = "true";
    this.comeBack().catch((error) => this.explain(error));
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

  /** Requests that are ready, each behind a button; made by the chosen protocol, or by the only one that they go with. */
  offerPresets(presets) {
    this.presets = presets;
    for (const { name, label, about, request } of presets) {
      byId("presets").append(
        element("button", { type: "button", id: `preset-${name}` }, label, element("small", {}, about)));
      this.on(`preset-${name}`, "click", () => this.ask(
        request.protocols ? { ...request, origin: location.origin } : { ...this.form.bare, ...request }));
    }
  }

  /** In-app requests are for the documents of Apple Wallet alone. */
  restrictPresets() {
    const isInApp = this.form.family.name === "apple-in-app";
    for (const { name, in_app: goesInApp, request } of this.presets) {
      byId(`preset-${name}`).disabled = isInApp && !goesInApp && request.protocols === undefined;
    }
  }

  /** The commands of a backend that does the same. The key stays in a variable. */
  async copy() {
    const call = (path, body) =>
      `curl -sS ${location.origin}${path} -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\\n`
      + `  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`;
    const { id } = this.session;
    await navigator.clipboard.writeText([
      call("/v1/verification_sessions", this.asked),
      call("/v1/test/mock_responses", { session: id, variant: this.variants.chosen.name }) + " > answer.json",
      `curl -sS ${location.origin}/v1/verification_sessions/${id}/submit -H "Authorization: Bearer $KEY" \\\n`
        + "  -H 'Content-Type: application/json' -d @answer.json",
    ].join("\n\n") + "\n");
    byId("copied").textContent = "Copied; KEY is the API key that the server printed.";
  }

  async ask(body = this.form.body) {
    this.variants.provesDocuments = body.documents.some(({ zk }) => zk !== undefined);
    this.session = await this.api.createSession(body);
    this.asked = body;
    byId("copied").textContent = "";
    byId("session-id").textContent = this.session.id;
    show("hosted", this.session.url !== undefined);
    const web = this.session.digital_credential_requests;
    byId("requests").replaceChildren(
      jsonBlock("What the backend sent to the server", body, { id: "sent" }),
      element(
        "section", { id: "requests-json", "aria-label": "What the app or page gets" },
        ...await Promise.all(this.session.requests.map((request, index) => this.contents.ofRequest(request, index === 0)))),
      ...(web.length > 0
        ? [jsonBlock("digital_credential_requests: for navigator.credentials.get", web, { id: "web-json" })]
        : []));
    await this.offerAnswers();
    for (const id of ["request", "answer", "empty"]) show(id);
    byId("empty").textContent = "The request is made. Choose a way of answering below.";
    byId("contents").replaceChildren();
    this.verdict.clear();
    this.focus("request-title");
  }

  /** Another session with the same request, which comes back here. */
  async openHostedPage() {
    const { url } = await this.api.createSession({ ...this.asked, return_url: `${location.origin}/playground` });
    location.assign(url);
  }

  /** Shows the session that the hosted page has brought back. */
  async comeBack() {
    const query = new URLSearchParams(location.search);
    if (!query.has("session")) return;
    history.replaceState(null, "", location.pathname);
    this.conclude(await this.api.readSession({ id: query.get("session") }, query.get("response_code")), undefined);
  }

  async offerAnswers() {
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
    if (link !== undefined) {
      byId("wallet-link").href = link;
      byId("qr").src = await this.api.qrCode(this.session);
    }
    show("qr", link !== undefined);
    byId("browser-about").textContent = link !== undefined
      ? REAL_WALLET + "by a link, fetches the request and posts its answer by itself."
      : web.length === 0
        ? names.includes("apple-in-app")
          ? "Real answers to this protocol come from an app on an iPhone."
          : "Real answers to this protocol come from a reader app, which meets the wallet in person."
        : hasNoAPI
          ? "This browser has no Digital Credentials API."
          : REAL_WALLET + "through the Digital Credentials API.";
  }

  // MARK: 3 and 4

  async answerByMock() {
    const variant = this.variants.chosen;
    const opened = await this.api.mockAnswer(this.session, byId("answer-protocol").value, variant.name);
    byId("contents").replaceChildren(await this.contents.ofAnswer(opened));
    await this.submit(opened.answer, variant.codes);
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
    show("empty", false);
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
