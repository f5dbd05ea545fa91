// A harness for a verifier in TypeScript: complete `verify` and the description, and add the verifier to package.json.
//
//     npm install && npm run build
//     mdoc vectors run --exec "node dist/harness.js"

import { bytes, serve, trustedCertificates, Unsupported, type Question } from "./protocol.js";

/** Judges one DeviceResponse with the verifier's strictest documented use. A verifier's exception is a rejection. */
async function verify(question: Question): Promise<void> {
  if (question.protocol !== "proximity") throw new Unsupported(`mdoc over ${question.protocol}`);
  const response = bytes(question.input);
  const transcript = bytes(question.session.transcript ?? "");
  const time = new Date(question.validation_time);
  const docTypes = (question.request.documents ?? []).map((document) => document.doc_type);
  const anchors = trustedCertificates(question);

  // await new MyVerifier({ anchors }).verify(response, { transcript, time, docTypes });
  void [response, transcript, time, docTypes, anchors];
  throw new Unsupported("the template judges nothing yet");
}

await serve(
  {
    name: "my-verifier",
    version: "0.1.0",
    profiles: ["core"],
    leaves: ["strict", "test-certificates", "revocation", "minimum-age", "all-documents", "anchors", "acceptance"],
    use: "verify with the trust anchors, the transcript, the time and the document type.",
    documentation: "https://www.npmjs.com/package/my-verifier",
  },
  verify,
);
