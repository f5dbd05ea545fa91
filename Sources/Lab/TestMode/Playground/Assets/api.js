// Calls the API as a relying party's backend would. On a real site this is no page's work: the API key stays there.

/** A refusal of the API (RFC 9457). */
export class Problem extends Error {
  constructor(body, status) {
    super(body.detail ?? body.title ?? `HTTP status ${status}`);
    this.code = body.code ?? "";
    this.errors = body.errors ?? [];
  }

  get text() {
    const where = this.errors.map(({ pointer, detail }) => `${pointer || "/"} ${detail}`).join("; ");
    return [this.message, where, this.code && `(${this.code})`].filter(Boolean).join(" ");
  }
}

export class API {
  constructor(key) {
    this.key = key;
  }

  createSession(body) {
    return this.post("/v1/verification_sessions", body);
  }

  submit(session, answer) {
    return this.post(`/v1/verification_sessions/${session.id}/submit`, answer);
  }

  readSession(session, code) {
    const query = code ? `&response_code=${encodeURIComponent(code)}` : "";
    return this.call("GET", `/v1/verification_sessions/${encodeURIComponent(session.id)}?expand[]=result${query}`);
  }

  /** `{answer, device_responses}`: the answer to submit, and what the wallet encrypted in it. */
  mockAnswer(session, protocol, variant) {
    return this.post("/v1/test/opened_mock_responses", { session: session.id, variant, protocol });
  }

  /** CBOR, given in base64url, in diagnostic notation; without personal values unless they are wanted. */
  async diagnostic(cbor, showsValues) {
    return (await this.post("/v1/test/diagnostics", { cbor, show_values: showsValues })).diagnostic;
  }

  /** The address of an image. */
  async qrCode(session) {
    const reply = await fetch(
      `/v1/verification_sessions/${session.id}/qr_code`, { headers: { Authorization: `Bearer ${this.key}` } });
    return URL.createObjectURL(await reply.blob());
  }

  post(path, body) {
    return this.call("POST", path, body);
  }

  async call(method, path, body) {
    const headers = { Authorization: `Bearer ${this.key}` };
    if (body !== undefined) headers["Content-Type"] = "application/json";
    const reply = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    return read(reply);
  }
}

export async function loadConfiguration() {
  return read(await fetch("/playground/config.json"));
}

async function read(reply) {
  const json = JSON.parse(await reply.text(), exact);
  if (!reply.ok) throw new Problem(json, reply.status);
  return json;
}

/** Keeps the digits of an integer that a JavaScript number cannot hold, where the browser can. */
function exact(_key, value, context) {
  const isLarge = Number.isInteger(value) && !Number.isSafeInteger(value);
  return isLarge && context?.source && JSON.rawJSON ? JSON.rawJSON(context.source) : value;
}
