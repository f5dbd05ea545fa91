import Base
import Cryptography
import JOSE
import PKIX

/// The checks that a wallet makes of a request before it asks its holder: OpenID4VP 1.0 by link and over the Digital
/// Credentials API, HAIP 1.0, the older profile of ISO/IEC TS 18013-7 (Annex B), the link of the European age
/// verification profile, and the DeviceRequest of `org-iso-mdoc` (ISO/IEC TS 18013-7, Annex C).
///
/// The checks depend only on the request, not on the wallet's documents.
public struct RequestJudgement: Sendable {
  /// The channel through which the wallet got the request.
  public struct Arrival: Sendable {
    /// The link; nil over the Digital Credentials API, or if it is not known.
    public var link: AuthorizationLink?
    /// The protocol's name in the Digital Credentials API, such as `openid4vp-v1-signed`; nil for a link.
    public var protocolName: String?
    /// The requesting page's origin over the Digital Credentials API.
    public var origin: String?
    /// The nonce that the wallet posted to `request_uri`; nil after GET.
    public var walletNonce: String?
    /// The media type of the reply to `request_uri`; nil if it is not known.
    public var mediaType: String?

    public init(
      link: AuthorizationLink? = nil, protocolName: String? = nil, origin: String? = nil, walletNonce: String? = nil,
      mediaType: String? = nil
    ) {
      self.link = link
      self.protocolName = protocolName
      self.origin = origin
      self.walletNonce = walletNonce
      self.mediaType = mediaType
    }
  }

  public enum Content: Sendable {
    /// A signed request object: a compact JWS, or the general JSON serialization with several signers.
    case object([UInt8])
    /// The parameters of an unsigned request.
    case parameters(JSON)
    /// A DeviceRequest, with the `encryptionInfo` of the Digital Credentials API. Without `encryptionInfo` or an
    /// origin, no signature is verified.
    case deviceRequest([UInt8], encryptionInfo: String?)
  }

  /// The rules to check besides those of the request's own protocol.
  public enum Profile: String, Sendable, CaseIterable {
    /// None.
    case openID4VP = "openid4vp"
    /// OpenID4VC High Assurance Interoperability Profile 1.0.
    case haip
  }

  /// The requesting party, as the request identifies it.
  public struct Client: Sendable {
    /// `client_id` with its prefix. If there are several signers, the identifier of the first valid one. Nil for an
    /// unsigned request over the Digital Credentials API, where the page's origin is the client.
    public let id: String?
    /// The certificates of the first valid signer; if no signer is valid, of the first signer. Empty for an unsigned
    /// request.
    public let certificates: [Certificate]
  }

  public let checks: [Check]
  /// The request's parameters; nil if they cannot be read, and for a DeviceRequest.
  public let claims: JSON?
  public let client: Client

  /// The failed checks.
  public var faults: [Check] { checks.filter { $0.outcome == .failed } }

  /// Whether the request proves its sender's identity. If not, a wallet posts nothing to `response_uri`, not even an
  /// error.
  public var isClientKnown: Bool {
    (client.id != nil || claims?["response_uri"] == nil) && !faults.contains { Self.clientCodes.contains($0.code) }
  }

  private static let clientCodes =
    CodeGroup.readerAuthentication.codes + [
      .requestProtocolMismatch, .requestLinkMalformed, .requestAddress, .requestClientMismatch, .requestSignerChain,
      .requestClientPrefixUnknown, .requestSignatureForbidden, .requestSignatureMissing, .requestResponseURIForeign,
      .requestWalletNonce,
    ]

  /// - Parameter roots: authorities of readers. Without roots, the signer's signature and dates are judged, but not
  ///   trust in the signer.
  public init(
    of content: Content, arrived arrival: Arrival = Arrival(), roots: [Certificate] = [], at now: Timestamp,
    profile: Profile = .openID4VP
  ) {
    var signer = SignerChecks(roots: roots)
    var signing = RequestRules.Signing.unsigned
    var id: String?
    switch content {
    case .deviceRequest(let bytes, let encryptionInfo):
      claims = nil
      signer.list.checkDeviceRequest(bytes, encryptionInfo: encryptionInfo, arrival)
      if let origin = arrival.origin, let encryptionInfo {
        let transcript = AnnexCChallenge.transcript(encryptionInfo: encryptionInfo, origin: origin)
        signer.check(isOptional: true) { $0.verify(deviceRequest: bytes, over: transcript, at: now) }
      } else {
        signer.list.notRun(.readerSignatureInvalid, "it needs the page's origin and encryptionInfo")
      }
    case .object(let text):
      signing = ReaderVerifier.isCompact(text) ? .once : .severally
      let objects = ReaderVerifier.compactObjects(text) ?? []
      let payload = objects.first.flatMap { try? CompactJWS(parsing: $0) }?.payload
      claims = payload.flatMap { try? JSON(parsing: $0) }.flatMap { $0.object == nil ? nil : $0 }
      let isCertified = signing == .severally || ClientName(of: claims).isCertified || claims?["client_id"] == nil
      signer.check(isCertified: isCertified) { $0.verify(requestObject: text, origin: arrival.origin, at: now) }
      let header = objects.dropFirst(signer.valid ?? 0).first.flatMap { try? CompactJWS(parsing: $0) }?.header
      signer.checkChain(header?.certificateChain ?? [], isStrict: profile == .haip)
      id = signing == .once ? claims?["client_id"]?.string : signer.valid.flatMap { _ in header?["client_id"]?.string }
    case .parameters(let parameters):
      claims = parameters.object == nil ? nil : parameters
      if claims == nil { signer.list.failed(.requestParameterMalformed, "the parameters are not a JSON object") }
    }
    if let claims {
      var rules = RequestRules(claims: claims, arrival: arrival, signing: signing, now: now, checks: signer.list)
      signer.list = rules.check(profile)
      if signing == .unsigned, !rules.isOverAPI { id = claims["client_id"]?.string }
    }
    client = Client(id: id, certificates: signer.certificates)
    signer.list.skipRest(of: CodeGroup.requests.codes)
    checks = signer.list.checks
  }
}

/// The checks of a request's signatures, from a `ReaderVerifier`'s report.
private struct SignerChecks {
  let roots: [Certificate]
  var list = CheckList()
  var certificates: [Certificate] = []
  /// The index of the first valid signature.
  var valid: Int?

  init(roots: [Certificate]) { self.roots = roots }

  /// - Parameters:
  ///   - isOptional: whether the request may be unsigned.
  ///   - isCertified: whether a certificate proves the client identifier. `RequestRules` checks all other identifiers.
  mutating func check(
    isOptional: Bool = false, isCertified: Bool = true, _ verify: (ReaderVerifier) -> ReaderReport
  ) {
    var report = verify(ReaderVerifier(roots: roots))
    let paths = report.signatures.map(\.certificates)
    // Without roots, each signer counts as its own root. Its dates and its signature are then still checked.
    if roots.isEmpty { report = verify(ReaderVerifier(roots: report.signatures.compactMap(\.certificates.first))) }
    valid = report.signatures.firstIndex(where: \.isGood)
    certificates = paths.dropFirst(valid ?? 0).first ?? []
    var isSaid = !isCertified || isOptional && report.signatures.isEmpty
    for signature in report.signatures where !report.isAuthenticated || signature.isGood {
      for check in signature.checks {
        switch (check.code, check.outcome) {
        case (.readerUntrusted, .passed) where roots.isEmpty: list.notRun(.readerUntrusted, "no root is given")
        case (.readerClientMismatch, .failed) where !isCertified: list.notRun(.readerClientMismatch)
        default:
          isSaid = isSaid || check.outcome == .failed
          list.append([check])
        }
      }
    }
    // A broken signature has its own finding.
    list.append(report.checks.map { isSaid && $0.code == .readerAuthMissing ? Check($0.code, .notRun) : $0 })
  }

  /// HAIP 1.0, 5: the certificates lead to an authority that the wallet knows. That authority's own certificate is not
  /// sent.
  mutating func checkChain(_ encoded: [[UInt8]], isStrict: Bool) {
    let chain = encoded.prefix(Limits.chainCertificates).compactMap { try? Certificate(der: $0) }
    list.require(Certificate.isChain(chain), .requestSignerChain, "a certificate is not signed by the next one")
    list.expect(
      !chain.contains(where: \.isSelfSigned), .requestSignerChain, "one is self-signed", isStrict: isStrict)
  }
}

/// The client identifier and its prefix (OpenID4VP 1.0, 5.9.1).
struct ClientName {
  /// The prefix; nil for an identifier without one.
  let prefix: String?
  /// The identifier without its prefix.
  let name: String

  /// Before version 1.0, and in Annex B, the prefix is in a separate parameter.
  /// - Parameter id: `client_id` if it is not among the claims.
  init(_ id: String? = nil, of claims: JSON?) {
    let id = id ?? claims?["client_id"]?.string ?? ""
    if let scheme = claims?["client_id_scheme"]?.string, claims?["dcql_query"] == nil {
      (prefix, name) = (scheme, id)
    } else {
      let parts = id.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      (prefix, name) = parts.count == 2 ? (parts[0], parts[1]) : (nil, id)
    }
  }

  var isCertified: Bool { prefix == "x509_hash" || prefix == "x509_san_dns" }
}
