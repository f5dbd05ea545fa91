import Base
import Cryptography
import Mdoc
import Mock
import PKIX
import Presentation
import Trust

/// What was published on ISO/IEC TS 18013-7, Annex C: an answer without documents, with its key; a transcript; and
/// messages whose keys or origins are not known, which nobody else can judge.
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

  /// Whom it trusts matters to no answer without documents.
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
