/**
 * A client of the mdoc verification server, for a relying party's backend. Node 18 or later, no dependency.
 *
 *     const client = new Client("https://id.example", key);
 *     const session = await client.createSession({ protocols: ["openid4vp"], return_url: "https://shop.example/done",
 *       documents: [{ doc_type: "org.iso.18013.5.1.mDL", age_over: [18] }] });
 *     // Send the visitor to session.url. Later, with what the browser brings back:
 *     const done = await client.session(session.id, { result: true, responseCode });
 *
 * The server refuses with `Problem`: decide by its `code`. Every POST has an `Idempotency-Key`, so it is retried like a
 * GET: after a lost connection, 429 and 503. Members and values of a later version may come: ignore what you do not know.
 */

import { createHmac, randomUUID, timingSafeEqual } from "node:crypto";

// What the server says

/** Why a session or a verification failed, or why a session was canceled. */
export interface LastError {
  code: string;
  reasons?: { code: string }[];
}

/** One check of a report. */
export interface Check {
  code: string;
  clause: string;
  outcome: string;
  detail?: string | null;
}

/** The checks of one attempt. It has no personal data. */
export interface Report {
  id?: string;
  checks: Check[];
  documents: { checks: Check[] }[];
}

/** A verified document: the requested elements, and the answers about ages. */
export interface VerifiedDocument {
  doc_type: string;
  elements: Record<string, Record<string, unknown>>;
  age_over: { threshold: number; answer: boolean | null }[];
}

export interface Result {
  documents: VerifiedDocument[];
}

/** One request for a wallet. */
export interface WalletRequest {
  protocol: string;
  data: Record<string, unknown>;
}

/** A request to one person, and what came of it. It may have personal values. */
export interface Session {
  id: string;
  object: "verification_session";
  /** `requires_input`, `processing`, `verified`, `failed`, `canceled`, `expired`, `redacted`, or a later version's. */
  status: string;
  livemode: boolean;
  /** Unix seconds. */
  created: number;
  expires_at: number;
  requests: WalletRequest[];
  digital_credential_requests: WalletRequest[];
  client_reference_id: string | null;
  /** Only in the reply to the creation. */
  client_secret?: string;
  url?: string;
  result: Result | null;
  report: Report | null;
  last_error: LastError | null;
  response_code?: string;
}

/** The verdict on a response that you received yourself. You own the single use of its challenge. */
export interface Verification {
  object: "verification";
  status: string;
  result: Result | null;
  report: Report;
  last_error: LastError | null;
}

/** The end of a session. Read the result from the session: an event has none. */
export interface Event {
  id: string;
  object: "event";
  type: string;
  created: number;
  livemode: boolean;
  data: {
    id: string;
    status: string;
    client_reference_id: string | null;
    /** With `metadata_in_events` of the configuration. */
    metadata?: Record<string, string>;
    last_error: LastError | null;
    result?: string;
  };
}

/** The delivery of one event to one endpoint. */
export interface Delivery {
  id: string;
  event: string;
  endpoint: string;
  status: string;
  attempts: number;
}

/** A member of the request that is wrong: its JSON pointer (RFC 6901), and the error in it. */
export interface Fault {
  pointer: string;
  detail: string;
}

// What you send

export interface ElementRequest {
  namespace?: string;
  identifier?: string;
  apple_element?: string;
  intent_to_retain?: boolean;
  required?: boolean;
}

export interface DocumentRequest {
  doc_type: string;
  elements?: ElementRequest[];
  age_over?: number[];
  [member: string]: unknown;
}

/** The body of `POST /v1/verification_sessions`. */
export interface SessionRequest {
  protocols: string[];
  /** Required, unless `template` names a request. */
  documents?: DocumentRequest[];
  template?: string;
  origin?: string;
  purpose?: string;
  purpose_translations?: Record<string, string>;
  return_url?: string;
  redirect_uri?: string;
  client_reference_id?: string;
  [member: string]: unknown;
}

/** A refusal of the server (RFC 9457), or a reply that is not the server's (`code` ""). */
export class Problem extends Error {
  readonly code: string;
  readonly detail: string;
  readonly requestID: string | undefined;
  readonly errors: Fault[];

  constructor(readonly status: number, body: Record<string, unknown>, readonly retryAfter?: number) {
    const text = (name: string) => (typeof body[name] === "string" ? (body[name] as string) : "");
    const errors = Array.isArray(body["errors"]) ? (body["errors"] as Fault[]) : [];
    const faults = errors.map((one) => ` ${one.pointer || "/"}: ${one.detail}.`).join("");
    super(`${text("code") || status}: ${text("detail") || text("title")}${faults} (${text("request_id")})`);
    this.name = "Problem";
    this.code = text("code");
    this.detail = text("detail");
    this.requestID = text("request_id") || undefined;
    this.errors = errors;
  }
}

export const hasEnded = (session: Session): boolean => !["requires_input", "processing"].includes(session.status);

const pause = (milliseconds: number) => new Promise<void>((resume) => setTimeout(resume, milliseconds));

type Query = Record<string, string | number | undefined>;

export class Client {
  /**
   * @param options.timeout milliseconds for one call
   * @param options.retries calls after the first
   */
  constructor(
    private readonly url: string,
    private readonly key: string,
    private readonly options: { timeout?: number; retries?: number } = {},
  ) {}

  // Sessions

  /** One key makes one session, however often it is sent. */
  createSession(request: SessionRequest, options: { idempotencyKey?: string } = {}): Promise<Session> {
    return this.post("/v1/verification_sessions", request, options.idempotencyKey);
  }

  /** With `result` also its values; after a page or a link they need the code that the visitor brings back. */
  session(id: string, options: { result?: boolean; responseCode?: string } = {}): Promise<Session> {
    const query = { "expand[]": options.result ? "result" : undefined, response_code: options.responseCode };
    return this.get(this.of("verification_sessions", id), query);
  }

  /** All sessions, newest first, read in pages of `limit`. */
  sessions(options: { status?: string; limit?: number } = {}): AsyncGenerator<Session> {
    return this.pages("/v1/verification_sessions", options);
  }

  /** Hands in a wallet's response. The reply has the result if the key has `results:read`. */
  submit(id: string, protocol: string, data: unknown): Promise<Session> {
    return this.post(this.of("verification_sessions", id) + "/submit", { protocol, data });
  }

  /** Asks until the session has ended, or the time is over; prefer webhooks. */
  async wait(id: string, milliseconds = 300_000): Promise<Session> {
    const end = Date.now() + milliseconds;
    for (let rest = 500; ; rest = Math.min(rest * 1.5, 5000)) {
      const session = await this.session(id);
      if (hasEnded(session) || Date.now() >= end) return session;
      await pause(Math.min(rest, end - Date.now()));
    }
  }

  cancel(id: string, reason?: string): Promise<Session> {
    return this.post(this.of("verification_sessions", id) + "/cancel", reason === undefined ? {} : { reason });
  }

  /** Erases the session's data; the audit entry stays. */
  redact(id: string): Promise<Session> {
    return this.post(this.of("verification_sessions", id) + "/redact", {});
  }

  report(id: string): Promise<Report> {
    return this.get(this.of("verification_reports", id));
  }

  // What another stack received

  /** `body` is that of `POST /v1/verifications`: the response, what its transcript is made of, and the request. */
  verify(body: Record<string, unknown>): Promise<Verification> {
    return this.post("/v1/verifications", body);
  }

  // Events

  /** The events of the last 30 days, newest first. */
  events(options: { type?: string; limit?: number } = {}): AsyncGenerator<Event> {
    return this.pages("/v1/events", options);
  }

  event(id: string): Promise<Event> {
    return this.get(this.of("events", id));
  }

  deliveries(options: { status?: string; limit?: number } = {}): AsyncGenerator<Delivery> {
    return this.pages("/v1/webhook_deliveries", options);
  }

  retryDelivery(id: string): Promise<Delivery> {
    return this.post(this.of("webhook_deliveries", id) + "/retry", {});
  }

  // Calls

  private of(list: string, id: string): string {
    return `/v1/${list}/${encodeURIComponent(id)}`;
  }

  private get<Reply>(path: string, query: Query = {}): Promise<Reply> {
    const text = Object.entries(query).filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`).join("&");
    return this.call("GET", text ? `${path}?${text}` : path);
  }

  /** For routes that this client does not have, too. */
  post<Reply>(path: string, body: unknown, key: string = randomUUID()): Promise<Reply> {
    return this.call("POST", path, JSON.stringify(body), { "Content-Type": "application/json", "Idempotency-Key": key });
  }

  private async *pages<Entry extends { id: string }>(path: string, query: Query): AsyncGenerator<Entry> {
    for (let after: string | undefined; ; ) {
      const page: { data: Entry[]; has_more: boolean } = await this.get(path, { ...query, starting_after: after });
      for (const entry of page.data) yield entry;
      if (!page.has_more || page.data.length === 0) return;
      after = page.data[page.data.length - 1].id;
    }
  }

  private async call<Reply>(
    method: string, path: string, body?: string, headers: Record<string, string> = {},
  ): Promise<Reply> {
    const retries = this.options.retries ?? 3;
    for (let attempt = 0; ; attempt += 1) {
      let rest = 500 * 2 ** attempt;
      try {
        return await this.once<Reply>(method, path, body, headers);
      } catch (error) {
        if (attempt >= retries) throw error;
        if (error instanceof Problem) {
          // In progress means that the first call of a lost connection still runs.
          const passes = [429, 503].includes(error.status) || error.code === "api.idempotency_in_progress";
          if (!passes) throw error;
          if (error.retryAfter !== undefined) rest = error.retryAfter * 1000;
          // Never sooner than the server says: a longer pause is the caller's decision.
          if (rest > 60_000) throw error;
        }
      }
      await pause(Math.min(rest, 60_000) * (1 + Math.random() / 4));
    }
  }

  private async once<Reply>(
    method: string, path: string, body: string | undefined, headers: Record<string, string>,
  ): Promise<Reply> {
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(), this.options.timeout ?? 30_000);
    try {
      const reply = await fetch(this.url.replace(/\/+$/, "") + path, {
        method, body, redirect: "error", signal: ended.signal,
        headers: { Authorization: `Bearer ${this.key}`, Accept: "application/json", ...headers },
      });
      const text = await reply.text();
      const value = parsed(text);
      if (reply.ok && Object.keys(value).length > 0) return value as Reply;
      if (reply.ok) throw new Problem(reply.status, { detail: "The reply is not a JSON object." });
      const after = reply.headers.get("Retry-After") ?? "";
      throw new Problem(reply.status, value, /^\d+$/.test(after) ? Number(after) : undefined);
    } finally {
      clearTimeout(timer);
    }
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The message is not the server's, was changed, or is too old. */
export class BadSignature extends Error {}

/** Checks messages by the endpoint's secrets (`whsec_…`): while one is replaced, by both. A message may come more than once. */
export class Webhook {
  private readonly keys: Uint8Array[];

  /** @param tolerance the greatest difference of the clocks, in seconds */
  constructor(secrets: string[], private readonly tolerance = 300) {
    if (secrets.length === 0) throw new RangeError("a webhook needs a secret");
    this.keys = secrets.map((secret) => Buffer.from(secret.replace(/^whsec_/, ""), "base64"));
    // With an empty key anyone could sign.
    if (this.keys.some(({ length }) => length < 24)) throw new RangeError("a webhook needs secrets of at least 24 bytes");
  }

  /** The event of a message that is genuine; throws BadSignature for every other. `body` is the text as it came. */
  event(headers: Record<string, string | undefined>, body: string, now = Date.now() / 1000): Event {
    const found = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value ?? ""]));
    const [id, time, signatures] = ["id", "timestamp", "signature"].map((name) => found.get(`webhook-${name}`) ?? "");
    if (!id || !/^\d+$/.test(time)) throw new BadSignature("a webhook-… header is missing or malformed");
    if (Math.abs(now - Number(time)) > this.tolerance) throw new BadSignature("the message is too old or too new");
    const expected = this.keys.map((key) => "v1," + createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64"));
    const fits = signatures.split(" ").some((one) => expected.some((other) => equal(one, other)));
    if (!fits) throw new BadSignature("no signature fits");
    return JSON.parse(body) as Event;
  }
}

function equal(one: string, other: string): boolean {
  const [first, second] = [Buffer.from(one, "utf8"), Buffer.from(other, "utf8")];
  return first.length === second.length && timingSafeEqual(first, second);
}
