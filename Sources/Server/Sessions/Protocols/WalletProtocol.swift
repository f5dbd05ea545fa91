import Base
import Cryptography
import Mdoc
import Presentation

/// Makes the request for a wallet, and reads the wallet's response. It is stateless: the challenge is serialized with
/// the request, and opens the response later.
package protocol WalletProtocol: Sendable {
  /// The name in the API, such as `apple-in-app`.
  var name: String { get }

  /// True if the response contains its own transcript. Only an API key may then submit the response, since the proof
  /// depends on the transcript.
  var takesTranscriptFromCaller: Bool { get }

  /// True if readers sign the request when the session is created.
  var signsAtOnce: Bool { get }

  /// Makes the request and its challenge, with a fresh nonce and key. Throws if the protocol cannot express the
  /// request.
  func makeRequest(_ request: PresentationRequest, in context: RequestContext) throws(ServiceError) -> OutgoingRequest

  /// Reads a submitted `data` member or a posted form, before anything is consumed. Parsing is strict about unknown
  /// members and base64.
  /// - Parameter pointer: the position in the body: `/data`, or empty for a form.
  func decode(_ data: JSON, at pointer: String) throws(ServiceError) -> WalletResponse

  /// Opens and authenticates the response. Every fault becomes part of the verdict.
  func authenticate(
    _ response: WalletResponse.Content, to challenge: consuming ConsumedChallenge, by rules: VerificationRules
  ) -> Authentication

  /// The protocol for a response in evidence, with the secret that `VerificationRules.didOpen` received.
  func reopening(with secret: consuming SecretBytes?) -> any WalletProtocol
}

extension WalletProtocol {
  package var takesTranscriptFromCaller: Bool { false }
  package var signsAtOnce: Bool { false }

  package func reopening(with secret: consuming SecretBytes?) -> any WalletProtocol { self }
}

package struct VerificationRules: Sendable {
  package let request: PresentationRequest
  package let relyingParty: RelyingParty
  package let verifier: MdocVerifier
  package let now: Timestamp
  /// The secret that opens an envelope, if a token stores the merchant's key (`VerificationService.opening`).
  var opening: AppleOpening?
  /// Receives the secret that opened the response, if the challenge is not sufficient. The secret opens no other
  /// response. Evidence may therefore contain it instead of the relying party's key. Nil if no evidence is kept.
  var didOpen: (@Sendable (SharedSecret) -> Void)?

  /// The verdict on a malformed challenge. This is a bug, since this program sealed the challenge.
  func interrupted() -> Authentication { verifier.refuse([Check(.sessionInterrupted, .failed)], at: now) }
}

/// The session that a request is made for, and the addresses of its response.
package struct RequestContext: Sendable {
  package let session: SessionAddress
  package let relyingParty: RelyingParty
  var apple: AppleConfiguration?
  /// The relying party's registration for this request; nil if it has none.
  var registration: RegistrationCertificate?
  /// The origin of the requesting page; required by web protocols.
  let origin: String?
  /// The address at which wallets reach this server, `https://host[:port]` without a path; nil if it is not configured.
  let publicURL: String?
  let now: Timestamp
  /// The hash of the browser's own response code, for the wallet's addresses.
  var code: ResponseCodeHash?

  var walletPath: WalletPath { WalletPath(session.id, code) }

  /// Omits an expired registration certificate, since wallets show the same warning for an expired and a missing
  /// certificate (ARF, RPRC_17).
  var additions: RequestAdditions {
    let isOver = registration?.expiresAt.map { $0 <= now } ?? false
    return RequestAdditions(acceptedIssuers: relyingParty.acceptedIssuers, registration: isOver ? nil : registration)
  }
}

/// A wallet's response, read before the challenge is consumed.
package enum WalletResponse: Sendable {
  case response(Content)
  /// The wallet's own refusal (OpenID4VP 1.0, 8.5), with a description that is safe to display.
  case refusal(Code, description: String? = nil)

  package enum Content: Sendable {
    case bytes([UInt8])
    case parameters(JSON)
  }
}

/// A request for the platform, and the challenge that its response must meet.
package struct OutgoingRequest: ~Copyable, Sendable {
  /// `data` of an entry of the session's `requests`. It is public.
  package let data: JSON
  /// The serialized challenge. It is sealed at rest, and returned once in a `ConsumedChallenge`.
  package let material: SecretBytes
}

/// A protocol whose request the wallet fetches from this server (`request_uri`, RFC 9101; OpenID4VP 1.0, 5.10).
package protocol FetchedRequestProtocol: WalletProtocol {
  /// Makes the signed request object at each fetch. The challenge stays sealed in the session until the response
  /// arrives.
  /// - Parameter wallet: the posted parameters; empty if the wallet fetches by GET.
  func requestObject(
    _ material: borrowing SecretBytes, for request: PresentationRequest, wallet: PostedByWallet,
    in context: RequestContext
  ) throws(ServiceError) -> [UInt8]

  /// True if this is the `state` of the request with this challenge.
  func isState(_ given: String?, _ material: borrowing SecretBytes) -> Bool
}

/// The parameters of a wallet that fetches its request by POST (OpenID4VP 1.0, 5.10). Other parameters are ignored.
package struct PostedByWallet: Sendable {
  /// `wallet_nonce`, which the request object repeats.
  package let nonce: String?
  package let metadata: String?

  package static let schema: Schema = Schema.openObject([
    "wallet_nonce": Schema.text(0...Limits.walletNonceBytes).described(
      "A text of at most \(Limits.walletNonceBytes) bytes, which the request object repeats."),
    "wallet_metadata": .text.described(
      "The wallet's capabilities: JSON text of at most \(Limits.walletMetadataBytes) bytes (OpenID4VP 1.0, 10). "
        + "With `jwks`, the request object is encrypted."),
  ]).described("The form that a wallet posts to get its request.").titled("WalletRequestForm")

  /// - Throws: `api.invalid_request` for a nonce that is too long.
  package init(_ form: JSON?) throws(ServiceError) {
    nonce = form?["wallet_nonce"]?.string
    metadata = form?["wallet_metadata"]?.string
    guard nonce?.utf8.count ?? 0 <= Limits.walletNonceBytes else {
      throw .invalidMember("/wallet_nonce", "must have at most \(Limits.walletNonceBytes) bytes")
    }
  }
}

package enum ProtocolFamily: Sendable, Hashable, CaseIterable {
  case inApp
  case web
  /// A protocol of `openid4vp`, of its European age verification profile, or of ISO/IEC TS 18013-7, Annex B.
  case redirect
  /// For in-person readers; not offered with other protocols.
  case proximity

  /// Protocols of `redirect` that can be offered with protocols of `web`, at most one per session.
  package static let besideWeb = ["openid4vp", "openid4vp-eu-age-verification"]

  /// All names in the API.
  package var protocolNames: [String] {
    switch self {
    case .inApp: ["apple-in-app"]
    case .web: ["org-iso-mdoc", "openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned"]
    case .redirect: Self.besideWeb + ["openid4vp-iso-18013-7-annex-b"]
    case .proximity: ["iso-18013-5-proximity"]
    }
  }

  package init?(ofProtocol name: String) {
    guard let family = Self.allCases.first(where: { $0.protocolNames.contains(name) }) else { return nil }
    self = family
  }

  /// True if the protocol identifies each document by an id (DCQL). The other protocols identify documents by type.
  static func namesQueries(_ protocolName: String) -> Bool {
    protocolName.hasPrefix("openid4vp") && protocolName != AnnexBProtocol().name
  }

  /// Age thresholds that a request may have (HTTP API, Sessions).
  package var ageThresholds: ClosedRange<Int> { self == .inApp ? 1...125 : 1...99 }
}

package enum BuiltProtocols {
  /// All protocols, regardless of the relying party's keys. Session creation rejects a protocol whose keys are missing.
  package static func all(in mode: ServerMode) -> [any WalletProtocol] {
    let web = OpenID4VPWebProtocol.Signing.allCases.map(OpenID4VPWebProtocol.init)
    return [AppleInAppProtocol(showsSimulatedResults: mode == .test), AnnexCProtocol()] + web + [
      OpenID4VPRedirectProtocol(), AgeVerificationProtocol(), AnnexBProtocol(), ProximityProtocol(),
    ]
  }
}

/// The addresses and the readers for the requests of a session (OpenID4VP 1.0, 5.9.3 and A.3.2).
extension RequestContext {
  /// - Throws: `api.protocol_unsupported` if the operator has configured no `public_url`.
  func walletAddresses(for wallet: some WalletProtocol) throws(ServiceError) -> WalletAddresses {
    guard let publicURL else {
      throw ServiceError(
        .apiProtocolUnsupported,
        "`\(wallet.name)` needs the address at which wallets reach this server (`public_url`), which is not configured."
      )
    }
    return WalletAddresses(publicURL: publicURL, session: session)
  }

  /// The first reader that is valid now; nil if the relying party has no reader.
  func currentReader() throws(ServiceError) -> ReaderIdentity? {
    relyingParty.readers.isEmpty ? nil : try valid(relyingParty.readers)[0]
  }

  /// The readers that are valid now, at least one.
  func signingReaders(for wallet: some WalletProtocol) throws(ServiceError) -> [ReaderIdentity] {
    guard !relyingParty.readers.isEmpty else {
      throw ServiceError(
        .apiProtocolUnsupported, "`\(wallet.name)` needs a reader, and this relying party has none configured.")
    }
    return try valid(relyingParty.readers)
  }

  /// The readers that are valid now. Wallets refuse an expired reader's signature without giving a reason.
  private func valid(_ readers: [ReaderIdentity]) throws(ServiceError) -> [ReaderIdentity] {
    let valid = readers.filter { $0.validity?.contains(now) ?? false }
    guard !valid.isEmpty else { throw ServiceError(.readerCertificateExpired) }
    return valid
  }

  /// The currently valid reader of the session's request. The reader's certificate can be newer than the session.
  /// - Parameter isNamed: true if the protocol's form of the `client_id` identifies this reader.
  func reader(
    for recipient: OpenID4VPRecipient, isNamed: (ReaderIdentity, String) -> Bool
  ) throws(ServiceError) -> ReaderIdentity {
    let named = relyingParty.readers.filter { reader in
      if case .client(let id, _) = recipient { isNamed(reader, id) } else { false }
    }
    guard !named.isEmpty else {
      throw ServiceError(.apiProtocolUnsupported, "The reader of this session's request is no longer configured.")
    }
    return try valid(named)[0]
  }
}

extension Shape where Value == [UInt8] {
  /// Base64url in its canonical form: no padding, no stray bits.
  package static var base64URL: Shape {
    bytes(base64URLText, "must be base64url, without padding or white space", Base64.decodeURLSafe)
  }

  /// Base64url of at least one byte.
  static var someBase64URL: Shape {
    let form = base64URL
    return Shape(
      form.schema.with("minLength", 2), read: { form.read($0 == "" ? .null : $0, $1, &$2) }, write: form.write)
  }

  /// Base64 or base64url.
  static var anyBase64: Shape {
    bytes("(\(base64Text)|\(base64URLText))", "must be base64 or base64url, without white space", Base64.decodeEither)
  }

  private static var base64URLText: String {
    "([A-Za-z0-9_-]{4})*([A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?"
  }

  private static var base64Text: String {
    "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"
  }

  private static func bytes(
    _ pattern: String, _ fault: String, _ decode: @escaping @Sendable (String) -> [UInt8]?
  ) -> Shape {
    Shape(.text(like: "^\(pattern)$")) { json, pointer, faults in
      if let bytes = json.string.flatMap(decode) { return bytes }
      faults.add(pointer, fault)
      return nil
    } write: {
      .string(Base64.encodeURLSafe($0))
    }
  }
}
