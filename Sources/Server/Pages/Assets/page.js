// The hosted page of a session: says what is asked and why, reaches a wallet, waits, and goes back to the relying party.

import { Backoff, Refused, SessionAPI } from "./session.js";
import { chooseLanguage, LANGUAGES } from "./language.js";
import { byId, element, say, show } from "./dom.js";

const RETURN_AFTER = 2500; // milliseconds, in which what came of it can be read
const WAIT = 20; // seconds that the server may hold a request back

/** Codes of refusals that a person can do something about; all others are one sentence. */
const REASONS = [
  [/^policy\.age_below_minimum$/, "failed-age"],
  [/^mdoc\.validity\.expired$/, "failed-expired"],
  [/^trust\.|^mdoc\.issuer\./, "failed-issuer"],
  [/^revocation\./, "failed-revoked"],
  [/^policy\.|^mdoc\.response\.(document_missing|element)/, "failed-missing"],
];

class Page {
  constructor(api, language) {
    this.api = api;
    this.language = language;
    this.isShown = false;
  }

  async start() {
    byId("decline").addEventListener("click", () => this.decline());
    byId("browser").addEventListener("click", () => this.askBrowser());
    byId("language").append(...Object.entries(LANGUAGES).map(([tag, name]) => element("option", { value: tag, lang: tag }, name)));
    byId("language").addEventListener("change", async () => {
      this.language = await chooseLanguage(byId("language").value);
      this.translate();
      if (this.page) await this.render();
    });
    document.addEventListener("visibilitychange", () => this.resume());
    this.translate();
    await this.follow();
  }

  translate() {
    const { tag, direction } = this.language;
    document.documentElement.lang = tag;
    document.documentElement.dir = direction;
    byId("language").value = tag;
    say("language-label", this.text("language"));
  }

  text(name, values = {}) {
    return this.language.text[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
  }

  /**
   * Shows the session, and waits for its end. The server holds the request back until then. If it answers early,
   * because too many wait, or not at all, it is asked less and less often.
   */
  async follow() {
    const backoff = new Backoff();
    for (let wait = 0; ; wait = WAIT) {
      const start = performance.now();
      try {
        this.page = await this.api.page(wait);
      } catch (error) {
        // A server that is away or busy comes back; a session that is gone does not.
        if (error instanceof Refused && error.isFinal) return this.gone(error.code);
        await this.rest(backoff.next());
        continue;
      }
      await this.render();
      if (!["requires_input", "processing"].includes(this.page.status)) return;
      if (wait === 0) continue;
      if (performance.now() - start > wait * 500) backoff.reset();
      else await this.rest(backoff.next());
    }
  }

  /** Returns after so many milliseconds, or on `resume`. */
  rest(time) {
    return new Promise((resume) => {
      this.resume = resume;
      setTimeout(resume, time);
    });
  }

  /** Ends a rest: somebody has done something here, or comes back to this page. */
  resume() {}

  async render() {
    const { page } = this;
    byId("main").removeAttribute("aria-busy");
    say("party", page.relying_party);
    this.dress(page);
    if (page.status === "requires_input" && !this.leadsBack) return this.leadNowhere();
    say("test", this.text("test"));
    show("test", !page.livemode);
    if (page.status === "requires_input") await this.renderRequest();
    else this.renderState();
    document.title = byId("title").textContent;
    this.api.tell(page.status, {
      code: page.last_error?.code, response_code: page.status === "verified" ? this.responseCode : undefined,
    });
  }

  /** Whether the relying party gets the response code, without which it reads no result. */
  get leadsBack() {
    const isFramed = window.parent !== window;
    return Boolean(isFramed ? this.api.embedder : this.page.return_url ?? this.page.redirect_uri);
  }

  /** Nobody is asked to share what could not be read. */
  leadNowhere() {
    console.error("The session needs a return_url, or a page with /v1/js/mdoc.js around this one.");
    this.page.status = "gone";
    this.gone();
  }

  /** The relying party's colour and logo. Text on the colour is black or white, whichever is read more easily. */
  dress({ color, logo_url }) {
    if (color !== undefined) {
      const [red, green, blue] = [1, 3, 5].map((at) => (parseInt(color.slice(at, at + 2), 16) / 255) ** 2.2);
      const isLight = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18;
      document.documentElement.style.setProperty("--brand", color);
      document.documentElement.style.setProperty("--on-brand", isLight ? "#000" : "#fff");
    }
    if (logo_url !== undefined && !byId("logo").src) byId("logo").src = logo_url;
    show("logo", logo_url !== undefined);
  }

  // MARK: What is asked

  async renderRequest() {
    const { page } = this;
    say("title", this.text("title", { name: page.relying_party }));
    say("purpose", page.purpose ?? "");
    show("purpose", page.purpose !== undefined);
    const several = page.documents.length > 1;
    say("what", this.text(several && !page.all_documents ? "what-any" : "what", { name: page.relying_party }));
    byId("documents").replaceChildren(...page.documents.flatMap((asked) => this.document(asked)));
    const isKept = page.documents.some(({ elements }) => elements.some(({ is_kept }) => is_kept));
    say("kept", this.text(isKept ? "kept" : "not-kept", { name: page.relying_party }));
    show("kept");
    say("privacy-link", this.text("privacy", { name: page.relying_party }));
    if (page.privacy_url !== undefined) byId("privacy-link").href = page.privacy_url;
    show("privacy", page.privacy_url !== undefined);
    show("ask");
    await this.renderWays();
  }

  document({ doc_type, label, elements, age_over }) {
    const name = this.language.documents[doc_type];
    const mark = (text) => element("span", { class: "mark" }, ` · ${text}`);
    return [
      element("h2", name ? {} : { lang: "en" }, name ?? label),
      element("ul", {},
        ...age_over.map((age) => element("li", {}, this.text("age-over", { age }))),
        ...elements.map(({ identifier, label, is_kept, required, alternatives }) => {
          const names = [{ identifier, label }, ...alternatives].map((name) => this.name(name));
          return element("li", {}, ...names.flatMap((name, index) => (index > 0 ? [" / ", name] : [name])),
            ...(is_kept ? [mark(this.text("is-kept"))] : []),
            ...(required ? [] : [mark(this.text("is-optional"))]));
        })),
    ];
  }

  name({ identifier, label }) {
    const own = this.language.elements[identifier];
    const age = /^age_over_(\d\d)$/.exec(identifier);
    return age ? this.text("age-over", { age: Number(age[1]) }) : element("span", own ? {} : { lang: "en" }, own ?? label);
  }

  // MARK: How a wallet is reached

  async renderWays() {
    const { page } = this;
    const hasBrowser = page.digital_credential_requests.length > 0 && window.DigitalCredential !== undefined
      && navigator.credentials !== undefined;
    const hasLink = page.wallet_link !== undefined;
    say("browser", this.text("continue"));
    show("browser", hasBrowser);
    say("link", this.text("open-wallet"));
    if (hasLink) byId("link").href = this.api.linkFromHere(page.wallet_link);
    byId("link").className = hasBrowser ? "quiet" : "main";
    show("link", hasLink);
    say("scan-about", this.text("scan"));
    byId("qr").alt = this.text("qr-code");
    if (hasLink && !byId("qr").src) {
      try { byId("qr").src = await this.api.qrCode(); } catch { /* The link is there without it. */ }
    }
    show("scan", hasLink && Boolean(byId("qr").src));
    say("decline", this.text("decline"));
    if (!hasBrowser && !hasLink) say("problem", this.text("no-way"));
    show("way");
    say("status", "");
  }

  async askBrowser() {
    byId("browser").disabled = true;
    say("problem", "");
    try {
      const requests = this.page.digital_credential_requests;
      const { protocol, data } = await navigator.credentials.get({ mediation: "required", digital: { requests } });
      this.noteSubmit(true);
      await this.api.submit(protocol, data);
    } catch (error) {
      if (error instanceof Refused) {
        this.noteSubmit(false);
        // Its end is shown by who follows the session.
        if (!error.isEnded) say("problem", this.text("try-again"));
      } else {
        say("problem", this.text(error.name === "NotAllowedError" || error.name === "AbortError" ? "not-shared" : "try-again"));
      }
    } finally {
      byId("browser").disabled = false;
      this.resume();
    }
  }

  async decline() {
    try {
      await this.api.decline();
    } catch {
      // The session had ended, or is about to: its end is shown.
    }
    this.resume();
  }

  // MARK: What came of it

  renderState() {
    const { page } = this;
    for (const id of ["ask", "way"]) show(id, false);
    if (page.status === "processing") {
      say("title", this.text("processing"));
      return;
    }
    const name = { name: page.relying_party };
    const titles = { verified: "verified", failed: "failed", canceled: "canceled", expired: "expired" };
    say("title", this.text(titles[page.status] ?? "gone", name));
    say("status", page.status === "failed" ? this.text(this.reason(page.last_error?.code ?? "")) : "");
    this.offerReturn(page.status !== "failed");
    byId("title").focus();
  }

  reason(code) {
    return REASONS.find(([pattern]) => pattern.test(code))?.[1] ?? "failed-other";
  }

  /** Kept, since the page may be loaded again before the session ends. */
  noteSubmit(hasSubmitted) {
    this.api.hasSubmitted = hasSubmitted;
    this.api.keep();
  }

  /** Of this page; not where a wallet brings one back to `redirect_uri`. */
  get responseCode() {
    return this.page.redirect_uri === undefined || this.api.hasSubmitted ? this.api.code : undefined;
  }

  offerReturn(isSoon) {
    const { return_url, redirect_uri } = this.page;
    const code = this.responseCode;
    let address = return_url;
    if (code && return_url !== undefined) address += `&response_code=${code}`;
    else if (code && redirect_uri !== undefined) {
      // Only an app's scheme has a dot.
      const isApp = redirect_uri.split(":")[0].includes(".");
      const mark = !isApp ? "#" : redirect_uri.includes("?") ? "&" : "?";
      address = `${redirect_uri}${mark}response_code=${code}`;
    }
    if (address === undefined || window.parent !== window) return;
    byId("back-link").href = address;
    say("back-link", this.text("back", { name: this.page.relying_party }));
    show("back");
    if (isSoon) setTimeout(() => location.replace(address), RETURN_AFTER);
  }

  gone(code) {
    for (const id of ["ask", "way"]) show(id, false);
    byId("main").removeAttribute("aria-busy");
    say("title", this.text("gone"));
    say("status", this.text("gone-about"));
    document.title = byId("title").textContent;
    this.api.tell("gone", { code });
  }
}

// The same page with another secret, opened in this tab.
addEventListener("hashchange", () => location.reload());

const api = await SessionAPI.here();
try {
  await new Page(api, await chooseLanguage()).start();
} catch (error) {
  api.tell("gone");
  throw error;
}
