import Base
import CBOR
import Cryptography

/// What a wallet puts into the transcript of OpenID4VP: every value as the request has it, each still to be changed.
struct OpenID4VPDraft: Sendable {
  /// The handovers that exist, each by the text that names it.
  enum Handover: Sendable {
    case digitalCredentialsAPI, redirect
    /// ISO/IEC TS 18013-7, Annex B, which is OpenID4VP's draft 18.
    case draft18
    /// OpenID4VP's draft 24 over the Digital Credentials API.
    case draft24
  }

  let request: OpenID4VPRequest
  /// The answer's own seed, before the transcript is known.
  let seed: MockSeed
  var handover: Handover
  var clientID: String
  var nonce: String
  var origin: String
  var responseURI: String
  /// Bytes, or null where nothing is encrypted.
  var thumbprint: CBORValue
  /// The mdoc's own nonce, which the JWE's `apu` carries (Annex B).
  var mdocNonce: String

  init(_ request: OpenID4VPRequest, seed: MockSeed) throws {
    self.request = request
    self.seed = try seed.child("openid4vp", context: Array("\(request.nonce)/\(request.clientID)".utf8))
    clientID = request.clientID
    nonce = request.nonce
    thumbprint = request.recipient.map { .bytes(MockJWK.thumbprint(of: $0.key)) } ?? .null
    mdocNonce = Base64.encodeURLSafe(try self.seed.bytes("mdoc nonce", count: 16))
    switch request.channel {
    case .digitalCredentialsAPI(let origin): (handover, self.origin, responseURI) = (.digitalCredentialsAPI, origin, "")
    case .redirect(let uri): (handover, origin, responseURI) = (.redirect, Self.origin(of: uri), uri)
    case .annexB(let uri): (handover, origin, responseURI) = (.draft18, Self.origin(of: uri), uri)
    }
  }

  var transcript: [UInt8] {
    switch handover {
    case .digitalCredentialsAPI:
      MockSessionTranscript.hashed("OpenID4VPDCAPIHandover", [.text(origin), .text(nonce), thumbprint])
    case .redirect:
      MockSessionTranscript.hashed(
        "OpenID4VPHandover", [.text(clientID), .text(nonce), thumbprint, .text(responseURI)])
    case .draft18:
      MockSessionTranscript.annexB(
        clientID: clientID, responseURI: responseURI, nonce: nonce, mdocNonce: mdocNonce)
    case .draft24:
      MockSessionTranscript.hashed("OpenID4VPDCAPIHandover", [.text(origin), .text(clientID), .text(nonce)])
    }
  }

  /// Scheme, host and port of an address.
  private static func origin(of address: String) -> String {
    address.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).prefix(3).joined(separator: "/")
  }
}

/// The members of an authorization response (OpenID4VP 1.0, 8.1), before it is encrypted or posted.
struct AuthorizationResponseDraft: Sendable {
  /// The query's id and its presentations: base64url texts, unless a variant says otherwise.
  var presentations: [JSON.Member]
  /// In place of `vp_token`, whatever the presentations are.
  var otherToken: JSON?
  var state: String?
  /// `presentation_submission` (Annex B).
  var submission: JSON?
  /// In Annex B `vp_token` is the one presentation itself.
  var isAnnexB = false
  /// Without `vp_token` at all.
  var lacksToken = false
  var further: [JSON.Member] = []
  /// What the wallet says in place of an answer (8.5).
  var error: String?

  var members: [JSON.Member] {
    let bare = isAnnexB ? presentations.first?.value.array?.first : nil
    let token = lacksToken ? nil : otherToken ?? bare ?? .object(presentations)
    if let error { return JSON.members(["error": .string(error), "state": state.map { .string($0) }]).object ?? [] }
    let members = JSON.members([
      "vp_token": token, "presentation_submission": submission, "state": state.map { .string($0) },
    ])
    return (members.object ?? []) + further
  }

  /// Changes what answers the first query.
  mutating func changeFirst(_ change: (JSON) -> JSON) {
    guard let first = presentations.first else { return }
    presentations[0] = JSON.Member(first.name, change(first.value))
  }
}
