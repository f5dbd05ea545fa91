import Cryptography
import JOSE
import Presentation
import Primitives

/// The examples of OpenID4VP 1.0 that have one right value: the handovers (B.2.6) and an encrypted response (8.3).
struct OpenID4VPSet: PublishedSet {
  let name = "openid4vp-1.0"

  private static let handovers = "handover-vectors.json"
  private static let response = "jwe-example.json"

  func isHere(_ folder: SuiteFolder) -> Bool { folder.has(Self.handovers) && folder.has(Self.response) }

  func cases(in folder: SuiteFolder) throws(SuiteError) -> [PublishedCase] {
    guard let handovers = try folder.json(Self.handovers).array else {
      throw SuiteError(path: "\(folder.path)/\(Self.handovers)", problem: "is no list")
    }
    let example = try folder.json(Self.response)
    return handovers.enumerated().map { index, vector in
      PublishedCase(
        "handover-\(index)", vector["name"]?.string ?? "A handover.", reference: "OpenID4VP 1.0, B.2.6", codes: [],
        judge: { Self.finding(onHandover: vector) })
    } + [
      PublishedCase(
        "response", "An encrypted response opens to what was encrypted.", reference: "OpenID4VP 1.0, 8.3", codes: [],
        judge: { Self.finding(onResponse: example) })
    ]
  }

  private static func finding(onHandover vector: JSON) -> PublishedCase.Finding {
    guard let nonce = vector["nonce"]?.string, let recipient = recipient(vector) else {
      return .other("it can't be set up")
    }
    let key = vector["jwk"].flatMap { try? JSONWebKey(parsing: $0).key }
    let thumbprint = key.map { JSONWebKey.thumbprint(of: $0) }
    guard thumbprint.map({ Hex.encode($0) }) == vector["jwkThumbprintHex"]?.string else {
      return .other("the thumbprint is another")
    }
    let transcript = recipient.transcript(nonce: nonce, thumbprint: thumbprint.map { .bytes($0) } ?? nil)
    return Hex.encode(transcript.encoded) == vector["sessionTranscriptHex"]?.string
      ? .accepted : .other("the transcript is another")
  }

  private static func recipient(_ vector: JSON) -> OpenID4VPRecipient? {
    if let origin = vector["origin"]?.string { return .origin(origin) }
    guard let id = vector["clientId"]?.string, let responseURI = vector["responseUri"]?.string else { return nil }
    return .client(id: id, responseURI: responseURI)
  }

  private static func finding(onResponse example: JSON) -> PublishedCase.Finding {
    guard let text = example["jwe"]?.string, let plaintext = example["plaintextUtf8"]?.string,
      let scalar = example["privateJwk"]?["d"]?.string.flatMap(Base64.decodeURLSafe),
      let key = try? PrivateKey(curve: .p256, scalar: scalar)
    else { return .other("it can't be set up") }
    do throws(JWEError) {
      let opened = try CompactJWE(parsing: text.utf8).decrypt(with: key)
      return opened == Array(plaintext.utf8) ? .accepted : .other("it opens to something else")
    } catch {
      return .refused([error.code])
    }
  }
}
