import Base
import CBOR
import CorpusMaking
import Cryptography
import JOSE
import Mdoc
import Mock
import PKIX
import Presentation
import Trust
import Vectors

/// Published examples of ISO/IEC TS 18013-7, Annex C: a response without documents, with its key; a transcript; and
/// messages that cannot be verified because their keys or origins were not published.
struct AnnexCSet: PublishedSet {
  let name = "iso18013-7-annexC"

  private static let answer = "ANNEXC-DETERMINISTIC-001.json"
  private static let profile = "eu-av-transcript-example.json"
  private static let closed = [
    ("eu-av-profile-example.json", "its origin and key are not published"),
    ("vck-iso-response.json", "its origin and key are not published"),
    ("vck-signed-response.json", "its nonce and origin are not published"),
  ]
  private static let reference = "ISO/IEC TS 18013-7:2025, Annex C"

  /// Any trust store: the response has no documents, so the anchors do not matter.
  private static var store: TrustStore? {
    let now = Timestamp(secondsSince1970: 1_750_000_000)
    guard let anchor = try? MockAuthority(seed: CorpusMaker.seed).anchor(at: now),
      let certificate = try? Certificate(der: anchor.certificate)
    else { return nil }
    return try? TrustStore(anchors: [TrustAnchor(certificate: certificate)], allowsTestCertificates: true)
  }

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.answer) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    let answer = try folder.json(Self.answer)
    let store = Self.store
    func text(_ name: String) -> String { answer[name]?.string ?? "" }
    let scalar = Hex.decode(text("recipientPrivateKeyHex")) ?? []
    let transcriptHash = answer["expected"]?["sessionTranscriptCborSha256Hex"]?.string
    let origin = text("origin")
    var cases = [(id: "opened", origin: origin), (id: "trailing-slash", origin: origin + "/")].map { id, origin in
      PublishedCase(
        id, id == "opened" ? "It opens; there is no document in it." : "The origin ends with a slash.",
        reference: Self.reference, codes: [id == "opened" ? .documentsMissing : .envelopeDecryptionFailed],
        judge: {
          guard let store, let bytes = Base64.decodeURLSafe(text("encryptedResponseB64")),
            let challenge = try? AnnexCChallenge(
              privateScalar: scalar, encryptionInfo: text("encryptionInfoB64"), origin: origin)
          else { return .other("it can't be set up") }
          let verifier = AnnexC(verifier: MdocVerifier(trust: store))
          let verdict = verifier.authenticate(
            bytes, answering: challenge, request: nil, at: Timestamp(secondsSince1970: 1_750_000_000)
          ).conclude()
          return .ofVerdict(verdict, elements: 0)
        })
    }
    cases.append(
      PublishedCase(
        "transcript", "The transcript is the published one.", reference: Self.reference, codes: [],
        judge: {
          let challenge = try? AnnexCChallenge(
            privateScalar: scalar, encryptionInfo: text("encryptionInfoB64"), origin: origin)
          guard let transcript = challenge?.transcript else { return .other("it can't be set up") }
          return PublishedCase.Finding(
            isAccepted: Hex.encode(HashAlgorithm.sha256.hash(transcript.encoded)) == transcriptHash)
        }))
    let profile = try folder.json(Self.profile)
    cases.append(
      PublishedCase(
        "age-verification-transcript", "The transcript of the EU age-verification profile is the published one.",
        reference: Self.reference, codes: [],
        judge: {
          let challenge = try? AnnexCChallenge(
            privateScalar: scalar, encryptionInfo: profile["encryptionInfo"]?.string ?? "",
            origin: profile["origin"]?.string ?? "")
          guard let transcript = challenge?.transcript else { return .other("it can't be set up") }
          return PublishedCase.Finding(
            isAccepted: Hex.encode(transcript.encoded.suffix(32)) == profile["transcriptDigestHex"]?.string)
        }))
    return cases + Self.closed.filter { folder.has($0.0) }.map { .skipped($0.0, $0.1) }
  }
}

/// The examples printed in OpenID4VP 1.0: transcripts with and without the thumbprint of a key, and an encrypted
/// response.
struct OpenID4VPSet: PublishedSet {
  let name = "openid4vp-1.0"

  private static let handovers = "handover-vectors.json"
  private static let encrypted = "jwe-example.json"

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.handovers) && folder.has(Self.encrypted) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    let handovers = try folder.json(Self.handovers).array ?? []
    let cases = handovers.enumerated().map { index, vector in
      PublishedCase(
        "handover-\(index + 1)", "The transcript of \(vector["name"]?.string ?? "a handover") is the published one.",
        reference: "OpenID4VP 1.0, B.2.6", codes: [], judge: { Self.transcript(vector) })
    }
    let example = try folder.json(Self.encrypted)
    return cases + [
      PublishedCase(
        "jwe", "The encrypted answer opens to what is printed.", reference: "OpenID4VP 1.0, 8.3", codes: [],
        judge: { Self.open(example, with: example["privateJwk"]?["d"]?.string.flatMap(Base64.decodeURLSafe) ?? []) }),
      PublishedCase(
        "jwe-other-key", "The verifier has another key.", reference: "OpenID4VP 1.0, 8.3",
        codes: [.envelopeDecryptionFailed], judge: { Self.open(example, with: [UInt8](repeating: 1, count: 32)) }),
    ]
  }

  private static func transcript(_ vector: JSON) -> PublishedCase.Finding {
    func text(_ name: String) -> String { vector[name]?.string ?? "" }
    var thumbprint = CBORValue.null
    if let jwk = vector["jwk"], !jwk.isNull {
      guard let key = try? JSONWebKey(parsing: jwk).key else { return .other("the key can't be read") }
      thumbprint = .bytes(JSONWebKey.thumbprint(of: key))
    }
    let recipient: OpenID4VPRecipient =
      vector["origin"] == nil
      ? .client(id: text("clientId"), responseURI: text("responseUri")) : .origin(text("origin"))
    let transcript = recipient.transcript(nonce: text("nonce"), thumbprint: thumbprint)
    return PublishedCase.Finding(isAccepted: Hex.encode(transcript.encoded) == text("sessionTranscriptHex"))
  }

  private static func open(_ example: JSON, with scalar: [UInt8]) -> PublishedCase.Finding {
    guard let key = try? PrivateKey(curve: .p256, scalar: scalar) else { return .other("it can't be set up") }
    do throws(JWEError) {
      let plaintext = try CompactJWE(parsing: (example["jwe"]?.string ?? "").utf8).decrypt(with: key)
      return PublishedCase.Finding(
        isAccepted: String(decoding: plaintext, as: UTF8.self) == example["plaintextUtf8"]?.string)
    } catch {
      return .refused([error.code])
    }
  }
}
