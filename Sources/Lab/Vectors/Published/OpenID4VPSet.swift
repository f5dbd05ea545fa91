import Base
import CBOR
import Cryptography
import JOSE
import Mdoc
import Presentation

/// What OpenID4VP 1.0 prints: transcripts with the thumbprint of a key and without, and an encrypted answer.
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
