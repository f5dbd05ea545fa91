// @owf/mdoc: `Verifier.verifyDeviceResponse`, with its callbacks by Node's crypto and @peculiar/x509.

import "reflect-metadata";
import {
  createECDH, createHash, createHmac, createPublicKey, hkdfSync, verify as verifySignature, webcrypto, X509Certificate,
} from "node:crypto";
import { CoseKey, DeviceResponse, Verifier, type MdocContext } from "@owf/mdoc";
import * as x509 from "@peculiar/x509";
import {
  bytes, installedVersion, serve, trustedCertificates, Unsupported, type Question,
} from "../../templates/typescript/src/protocol.js";

async function verify(question: Question): Promise<void> {
  if (question.protocol !== "proximity") throw new Unsupported(`mdoc over ${question.protocol}`);
  const readerKey = privateKey(question);
  await Verifier.verifyDeviceResponse(
    {
      deviceResponse: DeviceResponse.decode(bytes(question.input)),
      sessionTranscript: bytes(question.session.transcript ?? ""),
      trustedCertificates: trustedCertificates(question),
      now: new Date(question.validation_time),
      ...(readerKey === undefined ? {} : { ephemeralReaderKey: readerKey }),
    },
    context,
  );
}

function privateKey({ session }: Question): CoseKey | undefined {
  if (session.reader_key === undefined || session.reader_public_key === undefined) return undefined;
  const point = bytes(session.reader_public_key);
  const base64url = (part: Uint8Array) => Buffer.from(part).toString("base64url");
  return CoseKey.fromJwk({
    kty: "EC", crv: "P-256", d: session.reader_key, x: base64url(point.subarray(1, 33)), y: base64url(point.subarray(33)),
  });
}

// The callbacks that its documentation has the caller implement.

x509.cryptoProvider.set(webcrypto as never);

const digests: Record<string, string> = { "SHA-256": "sha256", "SHA-384": "sha384", "SHA-512": "sha512" };
const signatures: Record<string, string | null> = { ES256: "sha256", ES384: "sha384", ES512: "sha512", EdDSA: null };

const context: MdocContext = {
  crypto: {
    random: (length) => webcrypto.getRandomValues(new Uint8Array(length)),
    digest: ({ digestAlgorithm, bytes }) =>
      new Uint8Array(createHash(digests[digestAlgorithm]!).update(bytes).digest()),
    calculateEphemeralMacKey: ({ privateKey, publicKey, sessionTranscriptBytes, info }) => {
      const agreement = createECDH("prime256v1");
      agreement.setPrivateKey(privateKey);
      const salt = createHash("sha256").update(sessionTranscriptBytes).digest();
      const key = hkdfSync("sha256", agreement.computeSecret(publicKey), salt, Buffer.from(info), 32);
      return CoseKey.create({ keyType: 4, algorithm: 5, k: new Uint8Array(key) } as never);
    },
  },
  cose: {
    sign1: {
      sign: () => {
        throw new Error("a verifier signs nothing");
      },
      verify: ({ key, sign1 }) => {
        const hash = signatures[sign1.signatureAlgorithmName];
        if (hash === undefined) throw new Error(`algorithm ${sign1.signatureAlgorithmName}`);
        const publicKey = createPublicKey({ key: key.jwk as never, format: "jwk" });
        const options = hash === null ? publicKey : { key: publicKey, dsaEncoding: "ieee-p1363" as const };
        return verifySignature(hash, sign1.toBeSigned, options, sign1.signature);
      },
    },
    mac0: {
      sign: () => {
        throw new Error("a verifier signs nothing");
      },
      verify: ({ mac0, key }) => {
        const tag = createHmac("sha256", key.privateKey).update(mac0.toBeAuthenticated).digest();
        return Buffer.compare(tag, Buffer.from(mac0.tag)) === 0;
      },
    },
  },
  x509: {
    getIssuerNameField: ({ certificate, field }) =>
      new x509.X509Certificate(certificate as never).issuerName.getField(field),
    getPublicKey: ({ certificate }) =>
      CoseKey.fromJwk(new X509Certificate(certificate).publicKey.export({ format: "jwk" }) as never),
    verifyCertificateChain: ({ trustedCertificates, x5chain, now }) =>
      verifyPath(trustedCertificates, x5chain, now ?? new Date()),
    getCertificateData: ({ certificate }) => {
      const parsed = new x509.X509Certificate(certificate as never);
      return {
        issuerName: parsed.issuer, subjectName: parsed.subject, serialNumber: parsed.serialNumber,
        thumbprint: createHash("sha1").update(certificate).digest("hex"),
        notBefore: parsed.notBefore, notAfter: parsed.notAfter, pem: parsed.toString("pem"),
      };
    },
  },
};

/** Signatures, dates, the issuers' CA flag and the signer's key usage. */
async function verifyPath(trusted: Uint8Array[], chain: Uint8Array[], date: Date): Promise<void> {
  const parsed = (certificate: Uint8Array) => new x509.X509Certificate(certificate as never);
  const anchors = trusted.map(parsed);
  let subject = parsed(chain[0]!);
  const usage = subject.getExtension(x509.KeyUsagesExtension);
  if (usage && !(usage.usages & x509.KeyUsageFlags.digitalSignature)) throw new Error("the signer's key usage");
  for (let index = 1; ; index += 1) {
    const anchor = anchors.find((candidate) => candidate.subject === subject.issuer);
    const next = chain[index];
    const issuer = anchor ?? (next && parsed(next));
    if (!issuer) throw new Error("no trust anchor");
    if (!(await subject.verify({ publicKey: issuer.publicKey, date }))) throw new Error("signature or dates");
    if (issuer.getExtension(x509.BasicConstraintsExtension)?.ca !== true) throw new Error("an issuer is no CA");
    if (anchor) {
      if (!(await anchor.verify({ publicKey: anchor.publicKey, date }))) throw new Error("the anchor's signature, dates");
      return;
    }
    subject = issuer;
  }
}

await serve(
  {
    name: "@owf/mdoc",
    version: installedVersion("@owf/mdoc"),
    profiles: ["core"],
    leaves: ["strict", "test-certificates", "revocation", "minimum-age", "all-documents", "anchors", "acceptance"],
    use:
      "Verifier.verifyDeviceResponse with trustedCertificates, sessionTranscript, now and ephemeralReaderKey. Its " +
      "callbacks use Node's crypto; @peculiar/x509 validates the path: signatures, dates, CA flag, key usage.",
    documentation: "https://www.npmjs.com/package/@owf/mdoc",
  },
  verify,
);
