// The main flow by the TypeScript client of openapi-generator: replies are read by their types only, and no JSON by
// hand.
//
// MDOC_URL is a server in test mode behind the relay, MDOC_ORIGIN that server's own origin, MDOC_KEY its API key,
// MDOC_HOOKS the folder of the webhooks that came, and MDOC_HOOK_SECRET what signs them.
import { createHmac, timingSafeEqual } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import {
  CancelReason,
  Configuration,
  CreateVerificationSession,
  ElementRequest,
  Event,
  EventsApi,
  MockVariant,
  PresentationProtocol,
  Problem,
  ReportsApi,
  ResponseError,
  SessionsApi,
  SubmitVerificationSession,
  TestingApi,
  VerificationSession,
} from "./client";

const MDL = "org.iso.18013.5.1.mDL";
const NAMESPACE = "org.iso.18013.5.1";
const UNKNOWN = "vs_" + "A".repeat(22);
const LATER = "later_value";
const PROTOCOLS: PresentationProtocol[] = [
  "apple-in-app",
  "org-iso-mdoc",
  "openid4vp-v1-unsigned",
  "openid4vp-v1-signed",
  "openid4vp-v1-multisigned",
  "openid4vp",
  "openid4vp-iso-18013-7-annex-b",
];

function variable(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set`);
  return value;
}

function check(holds: boolean, found: unknown): asserts holds {
  if (!holds) throw new Error(JSON.stringify(found));
}

class Client {
  readonly sessions: SessionsApi;
  readonly reports: ReportsApi;
  readonly events: EventsApi;
  readonly testing: TestingApi;

  constructor(token: string, path = "") {
    const headers = { Authorization: `Bearer ${token}` };
    const configuration = new Configuration({ basePath: variable("MDOC_URL") + path, headers });
    this.sessions = new SessionsApi(configuration);
    this.reports = new ReportsApi(configuration);
    this.events = new EventsApi(configuration);
    this.testing = new TestingApi(configuration);
  }
}

const client = new Client(variable("MDOC_KEY"));

function asking(protocol: PresentationProtocol): CreateVerificationSession {
  const isInApp = protocol === PresentationProtocol.AppleInApp;
  const byPage = protocol.startsWith("org-iso") || protocol.startsWith("openid4vp-v1");
  const element: ElementRequest = isInApp
    ? { apple_element: "givenName" }
    : { namespace: NAMESPACE, identifier: "given_name" };
  return {
    protocols: [protocol],
    documents: [{ doc_type: MDL, elements: [element], age_over: [21] }],
    origin: byPage ? variable("MDOC_ORIGIN") : undefined,
    client_reference_id: "order-17",
  };
}

async function create(protocol: PresentationProtocol, idempotencyKey?: string): Promise<VerificationSession> {
  const session = await client.sessions.createVerificationSession({
    createVerificationSession: asking(protocol),
    idempotencyKey,
  });
  check(session.status === "requires_input" && session.client_secret !== undefined, session);
  check(!session.result && !session.last_error, session);
  const request = session.requests?.[0];
  switch (request?.protocol) {
    case "apple-in-app":
      check(request.data.documents.length === 1, request);
      break;
    case "org-iso-mdoc":
      check(request.data.deviceRequest.length > 0 && request.data.encryptionInfo.length > 0, request);
      break;
    case "openid4vp-v1-signed":
      check(request.data.request.length > 0, request);
      break;
    case "openid4vp-v1-multisigned":
      check("payload" in request.data.request, request);
      break;
    case "openid4vp":
    case "openid4vp-iso-18013-7-annex-b":
      check(request.data.authorization_request.includes("://"), request);
      break;
    case "openid4vp-v1-unsigned":
      check(request.data.nonce.length > 0, request);
      break;
    case "iso-18013-5-proximity":
      break;
    default:
      check(false, session);
  }
  check(request.protocol === protocol, request);
  return session;
}

/** What the mock wallet responds, by the type that submitting takes. */
function response(session: VerificationSession, variant: MockVariant): Promise<SubmitVerificationSession> {
  return client.testing.createMockResponse({ createMockResponse: { session: session.id, variant } });
}

async function verified(protocol: PresentationProtocol): Promise<VerificationSession> {
  const session = await create(protocol);
  const submission = {
    id: session.id,
    submitVerificationSession: await response(session, MockVariant.Good),
  };
  const done = await client.sessions.submitVerificationSession(submission);
  check(done.status === "verified" && done.client_reference_id === "order-17", done);
  const document = done.result?.documents[0];
  const values = document?.elements[NAMESPACE] as Record<string, unknown> | undefined;
  check(typeof values?.given_name === "string" && document?.issuer.country === "US", done);
  const age = document.age_over[0];
  check(age?.threshold === 21 && age.answer, age);
  check(done.report?.id !== undefined, done);
  const report = await client.reports.getVerificationReport({ id: done.report.id });
  check(report.checks.length > 0 && report.documents.length > 0, report);
  const again = await problem(409, client.sessions.submitVerificationSession(submission));
  check(again.code === "session.already_used", again);
  return done;
}

async function failed(): Promise<void> {
  const session = await create(PresentationProtocol.OrgIsoMdoc);
  const done = await client.sessions.submitVerificationSession({
    id: session.id,
    submitVerificationSession: await response(session, MockVariant.ElementChanged),
  });
  check(done.status === "failed" && !done.result, done);
  check(done.last_error?.code === "mdoc.digest.mismatch", done);
  check(done.last_error.reasons?.some((reason) => reason.code === "mdoc.digest.mismatch") === true, done);
}

/** The problem that a call is refused with, by its type. */
async function problem(status: number, call: Promise<unknown>): Promise<Problem> {
  try {
    await call;
  } catch (refusal) {
    check(refusal instanceof ResponseError && refusal.response.status === status, refusal);
    const found: Problem = await refusal.response.json();
    check(found.status === status && found.detail.length > 0 && found.request_id.length > 0, found);
    return found;
  }
  throw new Error(`no ${status}`);
}

async function problems(): Promise<void> {
  let found = await problem(404, client.sessions.getVerificationSession({ id: UNKNOWN }));
  check(found.code === "session.not_found", found);
  found = await problem(401, new Client("nobody").sessions.listVerificationSessions());
  check(found.code === "api.unauthenticated", found);
  const app = new Client((await create(PresentationProtocol.AppleInApp)).client_secret ?? "");
  found = await problem(403, app.sessions.listVerificationSessions());
  check(found.code === "api.forbidden", found);
  const nothing = { ...asking(PresentationProtocol.OrgIsoMdoc), documents: [{ doc_type: MDL }] };
  found = await problem(400, client.sessions.createVerificationSession({ createVerificationSession: nothing }));
  check(found.errors?.[0]?.pointer === "/documents/0", found);
}

/** The same request with the same key is done once; another with that key is refused. */
async function retried(): Promise<void> {
  const key = `typescript-${Date.now()}`;
  const first = await create(PresentationProtocol.OrgIsoMdoc, key);
  check((await create(PresentationProtocol.OrgIsoMdoc, key)).id === first.id, first);
  const other = asking(PresentationProtocol.Openid4vpV1Unsigned);
  const call = client.sessions.createVerificationSession({ createVerificationSession: other, idempotencyKey: key });
  const found = await problem(422, call);
  check(found.code === "api.idempotency_key_reused", found);
}

async function canceled(): Promise<void> {
  const session = await create(PresentationProtocol.AppleInApp);
  const app = new Client(session.client_secret ?? "").sessions;
  let seen = await app.getVerificationSession({ id: session.id });
  check(seen.status === "requires_input" && seen.client_reference_id === undefined, seen);
  const cancelVerificationSession = { reason: CancelReason.Declined };
  seen = await app.cancelVerificationSession({ id: session.id, cancelVerificationSession });
  check(seen.last_error?.code === "wallet.access_denied", seen);
}

async function listed(session: VerificationSession): Promise<void> {
  let page = await client.sessions.listVerificationSessions({ limit: 1 });
  const ids = page.data.map((one) => one.id);
  while (page.has_more && !ids.includes(session.id)) {
    page = await client.sessions.listVerificationSessions({ limit: 5, startingAfter: ids[ids.length - 1] });
    ids.push(...page.data.map((one) => one.id));
  }
  check(ids.includes(session.id) && ids.length > 1 && new Set(ids).size === ids.length, ids);
  const events = await client.events.listEvents();
  const id = events.data.find((event) => event.data.id === session.id)?.id;
  check(id !== undefined, events);
  const event = await client.events.getEvent({ id });
  check(event.type === "verification_session.verified" && event.data.status === "verified", event);
}

/** Whether a webhook comes from the server: one of its signatures is right, and it is at most five minutes old. */
function genuine(secret: string, headers: Map<string, string>, body: string, now: number): boolean {
  const id = headers.get("webhook-id");
  const time = headers.get("webhook-timestamp");
  if (Math.abs(now / 1000 - Number(time)) > 300) return false;
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const expected = Buffer.from("v1," + createHmac("sha256", key).update(`${id}.${time}.${body}`).digest("base64"));
  const signatures = (headers.get("webhook-signature") ?? "").split(" ").map((one) => Buffer.from(one));
  return signatures.some((one) => one.length === expected.length && timingSafeEqual(one, expected));
}

/** The webhook of that session came, is genuine, and holds an event. */
async function told(session: VerificationSession): Promise<void> {
  const [secret, folder, now] = [variable("MDOC_HOOK_SECRET"), variable("MDOC_HOOKS"), Date.now()];
  for (let turn = 0; turn < 100; turn++) {
    for (const file of readdirSync(folder)) {
      const content = readFileSync(`${folder}/${file}`, "utf8");
      const end = content.indexOf("\n\n");
      const body = content.slice(end + 2);
      const lines = content.slice(0, end).split("\n");
      const headers = new Map(
        lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 2)]),
      );
      const event: Event = JSON.parse(body);
      if (event.data.id === session.id) {
        check(event.type === "verification_session.verified", event);
        check(genuine(secret, headers, body, now), event);
        check(!genuine(secret, headers, body + " ", now), event);
        check(!genuine(secret, headers, body, now + 600_000), event);
        return;
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error("no webhook came");
}

/** The replies of a later version, with members and values that this client does not know, are read. */
async function later(session: VerificationSession): Promise<void> {
  const tomorrow = new Client(variable("MDOC_KEY"), "/later");
  let seen = await tomorrow.sessions.getVerificationSession({ id: session.id });
  check(seen.id === session.id && seen.status === LATER, seen);
  const { data } = await tomorrow.sessions.listVerificationSessions();
  check(data.every((one) => one.status === LATER) && data.some((one) => one.last_error?.code === LATER), data);
  const events = (await tomorrow.events.listEvents()).data;
  check(events.length > 0 && events.every((one) => one.type === LATER && one.data.status === LATER), events);
  const report = await tomorrow.reports.getVerificationReport({ id: session.report?.id ?? "" });
  check(report.checks.every((one) => one.code === LATER && one.outcome === LATER), report);
  const found = await problem(404, tomorrow.sessions.getVerificationSession({ id: UNKNOWN }));
  check(found.code === LATER, found);
  const createVerificationSession = asking(PresentationProtocol.OrgIsoMdoc);
  seen = await tomorrow.sessions.createVerificationSession({ createVerificationSession });
  check(seen.status === LATER && seen.requests?.[0]?.protocol === "org-iso-mdoc", seen);
}

async function main(): Promise<void> {
  await create(PresentationProtocol.Iso180135Proximity);
  const sessions: VerificationSession[] = [];
  for (const protocol of PROTOCOLS) sessions.push(await verified(protocol));
  const session = sessions[sessions.length - 1];
  await failed();
  await problems();
  await retried();
  await canceled();
  await listed(session);
  await told(session);
  await later(session);
  const count = PROTOCOLS.length + 1;
  console.log(`TypeScript: ${count} protocols, errors, retry, lists, a webhook, and replies of a later version`);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
