// @auth0/mdl: `Verifier.verify`, with every check on. It reads the clock, so `Date` gives the time of the case.

import { X509Certificate } from "node:crypto";
import {
  bytes, installedVersion, serve, trustedCertificates, Unsupported, type Question,
} from "../../templates/typescript/src/protocol.js";

let now: number | undefined;
const SystemDate = Date;
globalThis.Date = class extends SystemDate {
  constructor(...parts: unknown[]) {
    if (parts.length === 0) super(now ?? SystemDate.now());
    else super(...(parts as [number]));
  }
  static now(): number {
    return now ?? SystemDate.now();
  }
} as DateConstructor;
// Loaded with the replaced clock.
const { Verifier } = await import("@auth0/mdl");

async function verify(question: Question): Promise<void> {
  if (question.protocol !== "proximity") throw new Unsupported(`mdoc over ${question.protocol}`);
  const { transcript, reader_key: readerKey } = question.session;
  const verifier = new Verifier(trustedCertificates(question).map((anchor) => new X509Certificate(anchor).toString()));
  now = SystemDate.parse(question.validation_time);
  try {
    await verifier.verify(Buffer.from(bytes(question.input)), {
      encodedSessionTranscript: embedded(bytes(transcript ?? "")),
      ...(readerKey === undefined ? {} : { ephemeralReaderKey: Buffer.from(bytes(readerKey)) }),
    });
  } finally {
    now = undefined;
  }
}

/** SessionTranscriptBytes: the transcript in tag 24. */
function embedded(item: Uint8Array): Buffer {
  const count = item.length;
  const head = count < 24 ? [0x40 + count] : count < 256 ? [0x58, count] : [0x59, count >> 8, count & 255];
  return Buffer.concat([Buffer.from([0xd8, 0x18, ...head]), item]);
}

await serve(
  {
    name: "@auth0/mdl",
    version: installedVersion("@auth0/mdl"),
    profiles: ["core"],
    leaves: ["strict", "test-certificates", "revocation", "minimum-age", "all-documents", "anchors", "acceptance"],
    use:
      "new Verifier(certificates).verify with encodedSessionTranscript and ephemeralReaderKey, and every check on, as " +
      "in its README. It reads the clock: the harness replaces Date.",
    documentation: "https://www.npmjs.com/package/@auth0/mdl",
  },
  verify,
);
