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

export class SessionAPI {
  constructor(id, secret) {
    this.address = `/v1/verification_sessions/${id}`;
    this.secret = secret;
  }

  /**
   * Of the session in this page's address. The secret comes in the fragment, and goes from there into the tab's own
   * storage: it stays out of the history, and the page can be loaded again.
   */
  static here() {
    const id = location.pathname.split("/").pop();
    const secret = location.hash.slice(1) || sessionStorage.getItem(id) || "";
    sessionStorage.setItem(id, secret);
    if (location.hash) history.replaceState(null, "", location.pathname + location.search);
    return new SessionAPI(id, secret);
  }

  async call(path, options = {}) {
    const reply = await fetch(this.address + path, {
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

  /** An address for an image. */
  async qrCode() { return URL.createObjectURL(await (await this.call("/qr_code")).blob()); }

  submit(protocol, data) { return this.post("/submit", { protocol, data }); }

  decline() { return this.post("/cancel", { reason: "declined" }); }
}
