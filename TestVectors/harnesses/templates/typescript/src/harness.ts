// A harness for a verifier in TypeScript: fill in `description` and `verify`, and add the verifier to package.json.
//
//     npm install && npm run build
//     mdoc vectors run --exec "node dist/harness.js"

import { createInterface } from "node:readline";

/** What a case is asked with. Binary members are base64url without padding. */
interface Question {
  id: string;
  validation_time: string;
  protocol: string;
  session: { transcript?: string; reader_key?: string };
  request: { documents?: { doc_type: string; elements: { namespace: string; identifier: string }[] }[] };
  trust_anchors: string[];
  anchors: { name: string; certificate: string; settings?: object }[];
  policy?: object;
  input: string;
}

/** What the verifier says of a case. `note` is its own error; `reason`, why it does not claim to judge the case. */
type Verdict =
  | { verdict: "accepted" }
  | { verdict: "rejected"; note: string }
  | { verdict: "unsupported"; reason: string };

const description = {
  name: "my-verifier",
  version: "0.1.0",
  language: `Node.js ${process.versions.node}`,
  profiles: ["core"],
  use: "verify with the trust anchors, the transcript, the time and the document type.",
  documentation: "https://www.npmjs.com/package/my-verifier",
};

/** Judges one DeviceResponse with the verifier's strictest documented use. What it throws is a rejection. */
async function verify(question: Question): Promise<Verdict> {
  if (question.protocol !== "proximity") {
    return { verdict: "unsupported", reason: `mdoc over ${question.protocol}` };
  }
  const response = bytes(question.input);
  const transcript = bytes(question.session.transcript ?? "");
  const time = new Date(question.validation_time);
  const docTypes = (question.request.documents ?? []).map((document) => document.doc_type);
  const anchors = question.anchors
    .filter((anchor) => question.trust_anchors.includes(anchor.name))
    .map((anchor) => bytes(anchor.certificate));

  // await new MyVerifier({ anchors }).verify(response, { transcript, time, docTypes });
  // return { verdict: "accepted" };
  void [response, transcript, time, docTypes, anchors];
  return { verdict: "unsupported", reason: "the template judges nothing yet" };
}

function bytes(encoded: string): Uint8Array {
  return new Uint8Array(Buffer.from(encoded, "base64url"));
}

async function answer(line: string): Promise<object> {
  let question: Question & { describe?: object };
  try {
    question = JSON.parse(line);
    if (typeof question !== "object" || question === null) throw new TypeError("no JSON object");
  } catch (error) {
    return { verdict: "error", reason: text(error) };
  }
  if (question.describe !== undefined) return description;
  if (question.id === undefined) return { verdict: "error", reason: "no question" };
  try {
    return { id: question.id, ...(await verify(question)) };
  } catch (error) {
    return { id: question.id, verdict: "rejected", note: text(error) };
  }
}

function text(error: unknown): string {
  return String(error).slice(0, 200);
}

// What a library logs goes to standard error: only answers may stand on standard output.
console.log = console.info = console.debug = console.error;

for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  process.stdout.write(`${JSON.stringify(await answer(line))}\n`);
}

export {};
