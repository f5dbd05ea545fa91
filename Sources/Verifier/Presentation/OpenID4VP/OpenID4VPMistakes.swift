import Base
import CBOR
import Mdoc

extension OpenID4VPChallenge {
  /// Transcripts that wallets are known to make by mistake, to explain in the report why a device signature is not for
  /// ours. Nothing is accepted by them.
  ///
  /// - Parameter mdocNonce: what the answer would mean by Annex B of ISO/IEC TS 18013-7.
  func mistakes(names: RelyingPartyNames, mdocNonce: String?) -> [AlternativeTranscript] {
    let nonce = nonce
    let thumbprint = thumbprint
    var all: [AlternativeTranscript] = []
    func add(_ difference: String, _ recipient: OpenID4VPRecipient, thumbprint: CBORValue) {
      all.append(AlternativeTranscript(difference, recipient.transcript(nonce: nonce, thumbprint: thumbprint)))
    }
    if case .bytes(let bytes) = thumbprint {
      add("an answer that is not encrypted, without the key's thumbprint", recipient, thumbprint: nil)
      let text = Base64.encodeURLSafe(bytes)
      add("the key's thumbprint as text", recipient, thumbprint: .text(text))
    }
    switch recipient {
    case .origin(let origin):
      for other in Self.origins(near: origin, names) {
        add("the origin \(other)", .origin(other), thumbprint: thumbprint)
      }
      for id in ["web-origin:" + origin, "origin:" + origin] + Self.clientIDs(names) {
        add("the handover of redirects", .client(id: id, responseURI: origin), thumbprint: thumbprint)
        // Draft 24 had no key in its handover.
        let info: [CBORValue] = [.text(origin), .text(id), .text(nonce)]
        all.append(
          AlternativeTranscript(
            "the handover of OpenID4VP's draft 24", OpenID4VPRecipient.transcript("OpenID4VPDCAPIHandover", info)))
      }
    case .client(let id, let responseURI):
      for other in Self.clientIDs(near: id, names) {
        add("the client_id \(other)", .client(id: other, responseURI: responseURI), thumbprint: thumbprint)
      }
      let slashed = OpenID4VPRecipient.withOtherEnd(responseURI)
      add("the response_uri \(slashed)", .client(id: id, responseURI: slashed), thumbprint: thumbprint)
      let origin = Self.origin(of: responseURI)
      for origin in [origin] + Self.origins(near: origin, names) {
        add("the handover of the Digital Credentials API", .origin(origin), thumbprint: thumbprint)
      }
      guard let mdocNonce else { return all }
      for id in [id] + Self.clientIDs(near: id, names) {
        all.append(
          AlternativeTranscript(
            "the handover of ISO/IEC TS 18013-7, Annex B",
            AnnexB.transcript(clientID: id, responseURI: responseURI, nonce: nonce, mdocNonce: mdocNonce)))
      }
    }
    return all
  }

  /// Names that are tried, of those a relying party has.
  private static let triedNames = 16

  /// The origin in spellings that wallets have used, and the relying party's others.
  private static func origins(near origin: String, _ names: RelyingPartyNames) -> [String] {
    [origin + "/", "web-origin:" + origin, "origin:" + origin]
      + names.origins.filter { !$0.hasSameBytes(as: origin) }.prefix(triedNames)
  }

  private static func clientIDs(_ names: RelyingPartyNames) -> [String] {
    names.clientIDs.prefix(triedNames).flatMap { [$0] + withoutPrefix($0) }
  }

  private static func clientIDs(near id: String, _ names: RelyingPartyNames) -> [String] {
    withoutPrefix(id) + clientIDs(names).filter { !$0.hasSameBytes(as: id) }
  }

  /// `x509_san_dns:shop.example` as earlier drafts had it, with the prefix in a parameter of its own.
  private static func withoutPrefix(_ id: String) -> [String] {
    id.split(separator: ":", maxSplits: 1).dropFirst().map(String.init)
  }

  /// Scheme, host and port of an address.
  private static func origin(of address: String) -> String {
    address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
  }
}
