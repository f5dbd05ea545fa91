// The hand-written client's flow. The environment is that of flow.ts.
import { readdirSync, readFileSync } from "node:fs";
import { BadSignature, Client, Problem, Session, SessionRequest, Webhook } from "./mdoc";

const environment = (name: string): string => process.env[name] ?? "";
const origin = environment("MDOC_ORIGIN");
const client = new Client(environment("MDOC_URL"), environment("MDOC_KEY"), { retries: 1 });

function ensure(holds: boolean, about: unknown): asserts holds {
  if (!holds) throw new Error(`not as it should be: ${JSON.stringify(about)}`);
}

function asking(protocol: string): SessionRequest {
  const element = protocol === "apple-in-app"
    ? { apple_element: "givenName" } : { namespace: "org.iso.18013.5.1", identifier: "given_name" };
  return {
    protocols: [protocol], client_reference_id: "order-17",
    documents: [{ doc_type: "org.iso.18013.5.1.mDL", elements: [element], age_over: [21] }],
    ...(["apple-in-app", "openid4vp"].includes(protocol) ? {} : { origin }),
  };
}

async function refused(code: string, call: () => Promise<unknown>): Promise<Problem> {
  try {
    await call();
  } catch (error) {
    ensure(error instanceof Problem && error.code === code && error.requestID !== undefined, String(error));
    return error;
  }
  throw new Error(`${code} expected`);
}

async function verified(protocol: string): Promise<Session> {
  const session = await client.createSession(asking(protocol));
  ensure(session.status === "requires_input" && session.client_secret !== undefined, session);
  const response = await client.post<{ protocol: string; data: unknown }>("/v1/test/mock_responses", { session: session.id });
  const done = await client.submit(session.id, response.protocol, response.data);
  ensure(done.status === "verified" && done.result?.documents[0].age_over[0].answer === true, done);
  ensure((await client.report(done.report?.id ?? "")).documents[0].checks.length > 0, done);
  ensure((await client.wait(session.id, 5000)).status === "verified", session.id);
  await refused("session.already_used", () => client.submit(session.id, response.protocol, response.data));
  return done;
}

async function received(): Promise<void> {
  const session = await client.createSession(asking("org-iso-mdoc"));
  for (const [variant, status] of [["good", "verified"], ["element-changed", "failed"]]) {
    const made = await client.post<{ device_responses: string[] }>(
      "/v1/test/opened_mock_responses", { session: session.id, variant });
    const verdict = await client.verify({
      response: made.device_responses[0], request: { documents: asking("org-iso-mdoc").documents },
      org_iso_mdoc: { origin, encryption_info: session.requests[0].data["encryptionInfo"] },
    });
    ensure(verdict.status === status && (status === "verified") === (verdict.result !== null), verdict);
  }
}

async function told(session: Session): Promise<void> {
  const folder = environment("MDOC_HOOKS");
  const webhook = new Webhook([environment("MDOC_HOOK_SECRET")]);
  for (const end = Date.now() + 10_000; Date.now() < end; await new Promise((resume) => setTimeout(resume, 100))) {
    for (const name of readdirSync(folder)) {
      const [head, body] = readFileSync(`${folder}/${name}`, "utf8").split(/\n\n([^]*)/);
      if (JSON.parse(body).data.id !== session.id) continue;
      const headers = Object.fromEntries(head.split("\n").map((line) => line.split(": ", 2)));
      const event = webhook.event(headers, body);
      ensure(event.data.status === "verified" && (await client.event(event.id)).id === event.id, event);
      const other = new Webhook([`whsec_${"A".repeat(44)}`]);
      for (const forged of [
        () => webhook.event(headers, `${body} `), () => webhook.event(headers, body, Date.now() / 1000 + 600),
        () => other.event(headers, body),
      ]) {
        try {
          forged();
        } catch (error) {
          ensure(error instanceof BadSignature, String(error));
          continue;
        }
        throw new Error("a message that is not genuine was taken");
      }
      return;
    }
  }
  throw new Error("no webhook came");
}

/** A busy server is asked again, after the time that it names, and not sooner than it says. */
async function retried(): Promise<void> {
  const replies: [number, string, string][] = [
    [503, "1", "{}"], [200, "", '{"status": "verified"}'], [429, "120", '{"code": "api.quota_exceeded"}'], [200, "", "no JSON"],
  ];
  const keys: string[] = [];
  const asked = (): number => keys.length;
  const { fetch } = globalThis;
  globalThis.fetch = async (_, options) => {
    keys.push((options?.headers as Record<string, string>)["Idempotency-Key"]);
    const [status, after, body] = replies[keys.length - 1];
    return new Response(body, { status, headers: after ? { "Retry-After": after } : {} });
  };
  const begun = Date.now();
  ensure((await client.verify({})).status === "verified" && Date.now() - begun >= 1000, keys);
  ensure(asked() === 2 && keys[0] === keys[1], keys);
  for (const status of [429, 200]) {
    const problem = await client.verify({}).then(() => undefined, (error) => error);
    ensure(problem instanceof Problem && problem.status === status, String(problem));
  }
  ensure(asked() === 4, keys);
  globalThis.fetch = fetch;
}

async function all<Entry>(entries: AsyncGenerator<Entry>): Promise<Entry[]> {
  const found: Entry[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
}

async function flow(): Promise<void> {
  const sessions: Session[] = [];
  for (const protocol of ["openid4vp", "apple-in-app", "openid4vp-v1-signed"]) sessions.push(await verified(protocol));
  await received();
  const idempotencyKey = `typescript-${Date.now()}`;
  const one = await client.createSession(asking("openid4vp"), { idempotencyKey });
  const other = await client.createSession(asking("openid4vp"), { idempotencyKey });
  ensure(one.id === other.id && (await client.cancel(one.id)).status === "canceled", other);
  ensure((await client.redact(one.id)).status === "redacted", one.id);
  await refused("api.idempotency_key_reused", () => client.createSession(asking("apple-in-app"), { idempotencyKey }));
  const wrong = await refused("api.invalid_request", () => client.createSession({ ...asking("openid4vp"), documents: [] }));
  ensure(wrong.errors[0].pointer === "/documents", wrong.errors);
  await refused("session.not_found", () => client.session(`vs_${"A".repeat(22)}`));
  await refused("api.unauthenticated", () => all(new Client(environment("MDOC_URL"), "nobody").sessions()));
  const ids = (await all(client.sessions({ limit: 2 }))).map(({ id }) => id);
  ensure(ids.length === new Set(ids).size && sessions.every(({ id }) => ids.includes(id)), ids);
  ensure((await all(client.sessions({ status: "verified", limit: 5 }))).every(({ status }) => status === "verified"), ids);
  const events = await all(client.events({ type: "verification_session.verified" }));
  ensure(sessions.every(({ id }) => events.some(({ data }) => data.id === id)), events);
  ensure((await all(client.deliveries())).every(({ event }) => event.startsWith("evt_")), "deliveries");
  await told(sessions[0]);
  await retried();
  for (const secret of ["", "whsec_", `whsec_${"A".repeat(28)}`]) {
    try {
      new Webhook([secret]);
    } catch (error) {
      ensure(error instanceof RangeError, String(error));
      continue;
    }
    throw new Error("a secret that anyone can guess was taken");
  }
  console.log("the TypeScript client: sessions, verification, problems, lists, events, a webhook");
}

flow().catch((error) => {
  console.error(error);
  process.exit(1);
});
