// The protocol of the harnesses in TypeScript: reads questions, and replies to each with a line.

import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

/** A case. Binary members are base64url without padding; `bytes` decodes them. */
export interface Question {
  id: string;
  validation_time: string;
  protocol: string;
  session: { transcript?: string; reader_key?: string; reader_public_key?: string };
  request: { documents?: RequestedDocument[] };
  trust_anchors: string[];
  anchors: { name: string; certificate: string; settings?: object }[];
  policy?: { clock_skew?: number };
  input: string;
}

export interface RequestedDocument {
  doc_type: string;
  elements: { namespace: string; identifier: string }[];
  age_over?: number[];
}

/** The verifier and its claims. */
export interface Description {
  name: string;
  version: string;
  profiles: string[];
  /** The rules of a relying party that the verifier has no option for. */
  leaves: string[];
  /** The documented calls, with their options. */
  use: string;
  documentation: string;
}

/** Thrown by `verify` for a case that the verifier does not claim to judge. Its message is the reason. */
export class Unsupported extends Error {}

export function bytes(encoded: string): Uint8Array {
  return new Uint8Array(Buffer.from(encoded, "base64url"));
}

/** The certificates of the trusted anchors, DER. */
export function trustedCertificates(question: Question): Uint8Array[] {
  return question.anchors
    .filter((anchor) => question.trust_anchors.includes(anchor.name))
    .map((anchor) => bytes(anchor.certificate));
}

/** The version of a package that npm installed for this harness. */
export function installedVersion(name: string): string {
  const folders = createRequire(process.argv[1] ?? "").resolve.paths(name) ?? [];
  const file = folders.map((folder) => `${folder}/${name}/package.json`).find((path) => existsSync(path));
  return file === undefined ? "" : JSON.parse(readFileSync(file, "utf8")).version;
}

/** Replies until the end of the input. `verify` returns if the verifier accepts, and throws if it rejects. */
export async function serve(description: Description, verify: (question: Question) => Promise<void>): Promise<void> {
  // Standard output has only replies: a library's log goes to standard error.
  console.log = console.info = console.debug = console.error;
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    process.stdout.write(`${JSON.stringify(await reply(line, description, verify))}\n`);
  }
}

async function reply(
  line: string, description: Description, verify: (question: Question) => Promise<void>,
): Promise<object> {
  let question: Question & { describe?: object };
  try {
    question = JSON.parse(line);
    if (typeof question !== "object" || question === null) throw new TypeError("no JSON object");
  } catch (error) {
    return { verdict: "error", reason: text(error) };
  }
  if (question.describe !== undefined) return { ...description, language: `Node.js ${process.versions.node}` };
  if (question.id === undefined) return { verdict: "error", reason: "no question" };
  try {
    await verify(question);
    return { id: question.id, verdict: "accepted" };
  } catch (error) {
    if (error instanceof Unsupported) return { id: question.id, verdict: "unsupported", reason: text(error.message) };
    return { id: question.id, verdict: "rejected", note: text(error) };
  }
}

function text(error: unknown): string {
  return String(error).slice(0, 200);
}
