// The hosted page of a session: says what is asked and why, reaches a wallet, waits, and goes back to the relying party.

import { Backoff, Refused, SessionAPI } from "./session.js";
import { chooseLanguage, LANGUAGES } from "./language.js";
import { byId, element, icon, say, show } from "./dom.js";
import { brandColours, initials } from "./brand.js";
import { askedRows, purposeOf, titleOf } from "./asked.js";

const RETURN_AFTER = 2000; // milliseconds, in which what came of it can be read
const WAIT = 20; // seconds that the server may hold a request back

/** The signs of the states, and their tones. */
const SIGNS = {
  waiting: ["wait", "brand"], processing: ["wait", "brand"], scanned: ["phone", "brand"], verified: ["check", "good"],
  failed: ["cross", "bad"], declined: ["bang", "warn"], canceled: ["bang", "warn"], expired: ["clock", "warn"],
  impossible: ["bang", "warn"], gone: ["bang", "warn"],
};

/** The reasons of a refusal that tell nothing about a person, for relying parties that show them. */
const REASONS = [
  [/^mdoc\.validity\.expired$/, "failed-expired"],
  [/^trust\.|^mdoc\.issuer\./, "failed-issuer"],
  [/^policy\.element_missing|^mdoc\.response\.(document_missing|element)/, "failed-missing"],
];

/** What test mode simulates: the session's end, and for a refused response what is wrong with it. */
const OUTCOMES = [
  ["verified"], ["failed", "mso-expired"], ["failed", "device-signature-bit-flipped"], ["canceled"], ["expired"],
];

class Page {
  constructor(api, language) {
    this.api = api;
    this.language = language;
    /** What happens here while the session waits for a response: `waiting`, `scanned`, `declined`; else nothing. */
    this.here = null;
  }

  async start() {
    byId("decline").addEventListener("click", () => this.decline());
    byId("browser").addEventListener("click", () => this.askBrowser());
    byId("again").addEventListener("click", () => this.again());
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
    say("made", this.text("made"));
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
      // The code or the link is no longer of use: the wallet has the request.
      if (this.page.request_fetched && this.here === null) this.here = "scanned";
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
    this.renderBand(page);
    show("made");
    if (page.status !== "requires_input") this.renderEnd();
    else if (this.here !== null) this.renderHere();
    else await this.renderRequest();
    document.title = byId("title").textContent;
    this.api.tell(page.status, {
      code: page.last_error?.code, response_code: page.status === "verified" ? this.responseCode : undefined,
    });
  }

  /** Says that nothing here is live; in test mode ends the session as a person would, without a wallet. */
  renderBand({ mode, status, livemode, wallet_link: link }) {
    say("test-about", livemode ? "" : this.text(mode));
    show("test", !livemode);
    const isOpen = mode === "test" && status === "requires_input";
    byId("simulate").setAttribute("aria-label", this.text("simulate"));
    byId("simulate").replaceChildren(element("span", {}, this.text("simulate")), ...OUTCOMES.map(([outcome, variant]) => {
      const button = element("button", { type: "button", class: "quiet" }, this.text(`simulate-${variant ?? outcome}`));
      button.dataset.outcome = variant ?? outcome;
      button.addEventListener("click", () => this.simulate(outcome, variant));
      return button;
    }), ...(link === undefined ? [] : [element("a", {
      id: "simulated-wallet", href: `/wallet#${this.api.linkFromHere(link)}`, target: "_blank", rel: "noopener",
    }, this.text("simulate-wallet"))]));
    show("simulate", isOpen);
  }

  async simulate(outcome, variant) {
    for (const button of byId("simulate").querySelectorAll("button")) button.disabled = true;
    try {
      if (outcome !== "canceled" && outcome !== "expired") this.noteSubmit(true);
      await this.api.simulate(outcome, variant);
    } catch (error) {
      this.noteSubmit(false);
      if (!error.isEnded) this.complain("try-again");
      for (const button of byId("simulate").querySelectorAll("button")) button.disabled = false;
    }
    this.resume();
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

  /** The relying party's colour, logo and sign. */
  dress({ color, logo_url, logo_dark_url, relying_party }) {
    for (const [name, value] of Object.entries(color === undefined ? {} : brandColours(color))) {
      document.documentElement.style.setProperty(name, value);
    }
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    if (logo_url !== undefined) byId("logo").src = byId("icon").href = (isDark && logo_dark_url) || logo_url;
    say("initials", initials(relying_party));
    show("logo", logo_url !== undefined);
    show("initials", logo_url === undefined);
  }

  // MARK: What is asked

  async renderRequest() {
    const { page } = this;
    this.sign(null);
    say("title", titleOf(page, this.language, (...of) => this.text(...of)));
    say("purpose", purposeOf(page, this.language.tag));
    show("purpose", page.purpose !== undefined);
    const several = page.documents.length > 1;
    say("what", several ? this.text(page.all_documents ? "what" : "what-any", { name: page.relying_party }) : "");
    show("what", several);
    byId("documents").replaceChildren(...page.documents.flatMap((asked) => this.document(asked, several)));
    const isKept = page.documents.some(({ elements }) => elements.some(({ is_kept }) => is_kept));
    say("kept", this.text(isKept ? "kept" : "not-kept", { name: page.relying_party }));
    say("privacy-link", this.text("privacy", { name: page.relying_party }));
    if (page.privacy_url !== undefined) byId("privacy-link").href = page.privacy_url;
    show("privacy-link", page.privacy_url !== undefined);
    show("ask");
    await this.renderWays();
  }

  /** One document: its rows, of which those beyond the fifth fold. */
  document(asked, isNamed) {
    const name = this.language.documents[asked.doc_type];
    const rows = askedRows(asked, this.language, (...of) => this.text(...of));
    const shown = rows.length > 5 ? rows.slice(0, 4) : rows;
    const rest = rows.slice(shown.length);
    const fold = rest.length === 0 ? [] : [element("li", { class: "fold" }, element("details", {},
      element("summary", {}, this.text("more", { count: rest.length })), element("ul", { class: "more" }, ...rest)))];
    return [
      ...(isNamed ? [element("h2", name ? {} : { lang: "en" }, name ?? asked.label)] : []),
      ...(rows.length > 0 ? [element("ul", {}, ...shown, ...fold)] : []),
    ];
  }

  // MARK: How a wallet is reached

  get hasBrowser() {
    return this.page.digital_credential_requests.length > 0 && window.DigitalCredential !== undefined
      && navigator.credentials !== undefined;
  }

  get isPhone() { return matchMedia("(hover: none) and (pointer: coarse)").matches; }

  /** One way comes first: this browser's wallets; on a phone its wallet app; else the phone that scans the code. */
  async renderWays() {
    const { page, hasBrowser } = this;
    const hasLink = page.wallet_link !== undefined;
    if (!hasBrowser && !hasLink) {
      this.renderState("impossible", { isEnd: false });
      return this.offerDecline();
    }
    byId("browser").replaceChildren(icon("wallet"), this.text("continue"));
    byId("link").replaceChildren(icon("wallet"), this.text("open-wallet"));
    if (hasLink) byId("link").href = this.api.linkFromHere(page.wallet_link);
    byId("steps").replaceChildren(...["scan-open", "scan-code", "scan-agree"].map((name) => element("li", {}, this.text(name))));
    byId("qr").alt = this.text("qr-code");
    // No phone scans its own screen.
    if (hasLink && !this.isPhone && !byId("qr").src) {
      try { byId("qr").src = await this.api.qrCode(); } catch { /* The link is there without it. */ }
    }
    show("browser", hasBrowser);
    show("link", hasLink);
    show("scan", hasLink && Boolean(byId("qr").src));
    const first = hasBrowser ? "browser" : byId("qr").src ? "scan" : "link";
    const others = ["scan", "link"].filter((id) => id !== first && !byId(id).hidden);
    if (!byId("first").contains(byId(first))) byId("first").append(byId(first));
    byId("ways").append(...others.map(byId));
    say("others-title", this.text("other-ways"));
    show("others", others.length > 0);
    say("decline", this.text("decline"));
    for (const id of ["way", "first", "problem"]) show(id);
    say("status", "");
  }

  async askBrowser() {
    say("problem", "");
    byId("browser").disabled = true;
    this.asking = new AbortController();
    this.go("waiting");
    try {
      const requests = this.page.digital_credential_requests;
      const { protocol, data } = await navigator.credentials.get(
        { mediation: "required", digital: { requests }, signal: this.asking.signal });
      this.noteSubmit(true);
      await this.api.submit(protocol, data);
      this.here = "waiting";
    } catch (error) {
      if (error instanceof Refused) {
        this.noteSubmit(false);
        // Its end is shown by who follows the session.
        await this.go(null);
        if (!error.isEnded) this.complain("try-again");
      } else if (error.name === "NotAllowedError") {
        await this.go("declined");
      } else {
        await this.go(null);
        if (error.name !== "AbortError") this.complain("try-again");
      }
    } finally {
      byId("browser").disabled = false;
      this.resume();
    }
  }

  complain(name) {
    say("problem", this.text(name));
    byId("problem").focus();
  }

  /** To another view of the session that still waits. */
  async go(here) {
    this.here = here;
    await this.render();
  }

  /** Back to what is asked. */
  async again() {
    this.asking?.abort();
    this.page.request_fetched = false;
    await this.go(null);
    byId("title").focus();
  }

  async decline() {
    try {
      await this.api.decline();
    } catch {
      // The session had ended, or is about to: its end is shown.
    }
    this.resume();
  }

  // MARK: What comes of it

  /** A state: its sign, its title and what follows from it, in the person's language. */
  renderState(name, { about = `${name}-about`, isEnd = true } = {}) {
    const values = { name: this.page?.relying_party ?? "" };
    for (const id of ["ask", "way"]) show(id, false);
    this.sign(name);
    say("title", this.text(name, values));
    say("purpose", "");
    say("status", about === null ? "" : this.text(about, values));
    for (const id of ["again", "back", "bar"]) show(id, false);
    show("on");
    const key = `${this.page?.status}/${name}`;
    if (this.shown !== key && (isEnd || name === "declined")) byId("title").focus();
    this.shown = key;
  }

  /** The sign of a state, or none for what is asked. */
  sign(name) {
    const [drawing, tone] = SIGNS[name] ?? [];
    byId("main").className = name === null ? "" : "state";
    byId("sign").className = `sign tone-${tone}${drawing === "wait" ? " spin" : ""}`;
    if (name !== null) byId("sign").replaceChildren(icon(drawing));
    show("sign", name !== null);
    if (name === null) {
      show("on", false);
      this.shown = null;
    }
  }

  /** What happens here, while the session waits. */
  renderHere() {
    this.renderState(this.here, { isEnd: false });
    const isDeclined = this.here === "declined";
    byId("again").className = isDeclined ? "main" : "quiet";
    const scanned = this.isPhone ? "again" : "scan-again";
    say("again", this.text(isDeclined ? "again" : this.here === "scanned" ? scanned : "cancel"));
    show("again");
    if (isDeclined) this.offerDecline();
  }

  /** Who goes back without a response has declined for good. */
  offerDecline() {
    say("decline", this.text("back", { name: this.page.relying_party }));
    show("way");
    for (const id of ["first", "others", "problem"]) show(id, false);
  }

  renderEnd() {
    const { status, last_error, shows_reason } = this.page;
    if (status === "processing") return this.renderState("processing", { about: null, isEnd: false });
    const reason = shows_reason && REASONS.find(([pattern]) => pattern.test(last_error?.code ?? ""))?.[1];
    const isSoon = status !== "failed";
    const name = ["verified", "failed", "canceled", "expired"].includes(status) ? status : "gone";
    const goesBack = this.offersReturn;
    this.renderState(name, { about: reason || (name === "verified" && !goesBack ? "verified-here" : `${name}-about`) });
    if (goesBack) this.offerReturn(isSoon, name);
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

  /** Whether there is somewhere to go back to. A frame is its page's to close. */
  get offersReturn() {
    return window.parent === window && (this.page.return_url ?? this.page.redirect_uri) !== undefined;
  }

  /** The link to the relying party; if `isSoon`, it is also followed by itself. */
  offerReturn(isSoon, name) {
    const { return_url, redirect_uri } = this.page;
    const code = this.responseCode;
    let address = return_url ?? redirect_uri;
    if (code && return_url !== undefined) address += `&response_code=${code}`;
    else if (code) {
      // Only an app's scheme has a dot.
      const isApp = redirect_uri.split(":")[0].includes(".");
      const mark = !isApp ? "#" : redirect_uri.includes("?") ? "&" : "?";
      address = `${redirect_uri}${mark}response_code=${code}`;
    }
    byId("back-link").href = address;
    byId("back-link").className = name === "verified" ? "quiet" : "main";
    say("back-link", this.text(name === "verified" ? "go-now" : "back", { name: this.page.relying_party }));
    show("back");
    show("bar", isSoon);
    if (isSoon && !this.leaves) this.leaves = setTimeout(() => location.replace(address), RETURN_AFTER);
  }

  gone(code) {
    byId("main").removeAttribute("aria-busy");
    this.renderState("gone");
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
