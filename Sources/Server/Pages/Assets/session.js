// The calls that the page makes with the session's client secret.

/** A request that the server refused. */
export class Refused extends Error {
  constructor(status, code) {
    super(code ?? `HTTP ${status}`);
    this.status = status;
    this.code = code;
  }

  /** Whether asking again would be refused again. */
  get isFinal() { return [400, 401, 403, 404, 410].includes(this.status); }

  /** Whether the session has come to its end. */
  get isEnded() { return (this.code ?? "").startsWith("session."); }
}

/** The tab's own storage. Browsers may block it, above all in another site's frame: nothing is then kept. */
const tab = {
  get(name) {
    try { return JSON.parse(sessionStorage.getItem(name)) ?? {}; } catch { return {}; }
  },
  set(name, value) {
    try { sessionStorage.setItem(name, JSON.stringify(value)); } catch { /* It stays in memory. */ }
  },
};

const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "");

/** Pauses between requests: each is twice as long as the last, with jitter, so that pages do not ask in step. */
export class Backoff {
  static FIRST = 1000; // milliseconds
  static LAST = 20000; // and half as much again by jitter

  constructor() { this.reset(); }

  reset() { this.pause = Backoff.FIRST; }

  next() {
    const pause = this.pause * (1 + Math.random() / 2);
    this.pause = Math.min(this.pause * 2, Backoff.LAST);
    return pause;
  }
}

export class SessionAPI {
  /**
   * Of the session in this page's address. The secret comes in the fragment, and goes from there into memory and the
   * tab's own storage: it stays out of the history, and the page can be loaded again. Behind it the drop-in script puts
   * the origin of the page that has this one in a frame.
   *
   * The response code is made here and never taken from an address. The server and the wallet get its hash, and the
   * relying party the code: nobody who sent this link to somebody else can end the session.
   */
  static async here() {
    const api = new SessionAPI();
    api.id = location.pathname.split("/").filter(Boolean).pop();
    const [secret, embedder] = location.hash.slice(1).split("&");
    const kept = tab.get(api.id);
    const isKept = !secret || kept.secret === secret;
    const fresh = { secret, embedder, code: `vrc_${base64url(crypto.getRandomValues(new Uint8Array(32)))}` };
    Object.assign(api, fresh, isKept ? kept : {}, secret ? { embedder } : {});
    api.keep();
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    // Before anything that takes time: a page that says nothing has not loaded.
    api.tell("requires_input");
    // Only a secure context has hashes, and the Digital Credentials API.
    const hash = await window.crypto.subtle?.digest("SHA-256", new TextEncoder().encode(api.code));
    if (hash) api.codeHash = base64url(new Uint8Array(hash));
    else delete api.code;
    return api;
  }

  keep() {
    const { id, secret, embedder, code, hasSubmitted } = this;
    tab.set(id, { secret, embedder, code, hasSubmitted });
  }

  /** Tells the page that has this one in a frame. `frame-ancestors` lets only the relying party's origins. */
  tell(status, { code = null, response_code = null } = {}) {
    if (window.parent === window || !this.embedder) return;
    window.parent.postMessage({ type: "mdoc.session", id: this.id, status, code, response_code }, this.embedder);
  }

  async call(path, options = {}) {
    const reply = await fetch(`/v1/verification_sessions/${this.id}${path}`, {
      ...options, headers: { Authorization: `Bearer ${this.secret}`, ...options.headers },
    });
    if (!reply.ok) throw new Refused(reply.status, (await reply.json().catch(() => ({}))).code);
    return reply;
  }

  post(path, body) {
    return this.call(path, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
  }

  /** The session for this page; with `wait`, after its end or so many seconds. */
  async page(wait) { return (await this.call(`/page${wait > 0 ? `?wait=${wait}` : ""}`)).json(); }

  /** A wallet's link for this page: in its addresses the code's hash follows the session's id. */
  linkFromHere(link) { return this.codeHash ? link.replaceAll(this.id, `${this.id}.${this.codeHash}`) : link; }

  /** An address for an image. */
  async qrCode() {
    const query = this.codeHash ? `?response_code_sha256=${this.codeHash}` : "";
    return URL.createObjectURL(await (await this.call(`/qr_code${query}`)).blob());
  }

  submit(protocol, data) { return this.post("/submit", { protocol, data, response_code_sha256: this.codeHash }); }

  /** In test mode: ends the session without a wallet. */
  async simulate(outcome, variant) {
    const body = { outcome, variant, response_code_sha256: this.codeHash };
    const reply = await fetch(`/v1/test/verification_sessions/${this.id}/simulate`, {
      method: "POST", headers: { Authorization: `Bearer ${this.secret}`, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!reply.ok) throw new Refused(reply.status, (await reply.json().catch(() => ({}))).code);
  }

  decline() { return this.post("/cancel", { reason: "declined" }); }
}
