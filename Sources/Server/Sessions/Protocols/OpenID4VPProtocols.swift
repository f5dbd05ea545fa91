import Base
import Cryptography
import Mdoc
import Presentation

/// OpenID4VP over the Digital Credentials API (OpenID4VP 1.0, appendix A).
struct OpenID4VPWebProtocol: WalletProtocol {
  enum Signing: String, Sendable, CaseIterable {
    /// The relying party is identified only by the origin, which the browser asserts.
    case unsigned
    case signed
    /// Every reader of the relying party signs, since wallets trust different authorities.
    case multisigned
  }

  let signing: Signing

  init(_ signing: Signing) { self.signing = signing }

  var name: String { "openid4vp-v1-" + signing.rawValue }
  var signsAtOnce: Bool { signing != .unsigned }

  /// Returns the plain parameters, `{"request": JWS}`, or `{"request": {"payload", "signatures"}}`.
  func makeRequest(_ request: PresentationRequest, in context: RequestContext) throws(ServiceError) -> OutgoingRequest {
    guard let origin = context.origin else { throw .invalidMember("/origin", "is required") }
    let readers = signing == .unsigned ? [] : try context.signingReaders(for: self)
    do throws(CryptoError) {
      let challenge = try OpenID4VPChallenge(
        freshFor: .origin(origin), isEncrypted: context.relyingParty.openID4VP.encryptsResponses)
      let made = context.openID4VPRequest(request, challenge: challenge)
      let data: JSON =
        switch signing {
        case .unsigned: made.unsigned
        case .signed: ["request": .string(try made.signed(by: readers[0]))]
        case .multisigned: ["request": try made.signed(by: readers)]
        }
      return OutgoingRequest(data: data, material: try challenge.serialized())
    } catch { throw ServiceError(error) }
  }

  func decode(_ data: JSON, at pointer: String) throws(ServiceError) -> WalletResponse {
    try PostedParameters.decode(data, at: pointer, isForm: false)
  }

  func authenticate(
    _ response: WalletResponse.Content, to challenge: consuming ConsumedChallenge, by rules: VerificationRules
  ) -> Authentication {
    guard case .parameters(let response) = response, let opening = OpenID4VPChallenge(serialized: challenge.material)
    else { return rules.interrupted() }
    return rules.authenticate(response, to: opening)
  }
}

/// OpenID4VP by redirect or QR code: the wallet fetches a signed request object and posts its response.
struct OpenID4VPRedirectProtocol: FetchedRequestProtocol {
  let name = "openid4vp"

  /// `data` contains `request_uri` and the parameters of the link or QR code.
  func makeRequest(_ request: PresentationRequest, in context: RequestContext) throws(ServiceError) -> OutgoingRequest {
    let addresses = try context.walletAddresses(for: self)
    let reader = try context.signingReaders(for: self)[0]
    // The wallet compares the reader's name with the host of `response_uri` (5.9.3).
    if case .dnsName = reader.clientIdentifier, !reader.hasDNSName(addresses.host) {
      throw ServiceError(
        .apiProtocolUnsupported, "The reader's certificate does not contain the host of `public_url`.")
    }
    do throws(CryptoError) {
      let challenge = try OpenID4VPChallenge(
        freshFor: .client(id: reader.clientID, responseURI: addresses.response),
        isEncrypted: context.relyingParty.openID4VP.encryptsResponses)
      return OutgoingRequest(
        data: addresses.requestData(scheme: context.relyingParty.openID4VP.scheme, clientID: reader.clientID),
        material: try challenge.serialized())
    } catch { throw .cryptoFailed }
  }

  func requestObject(
    _ material: borrowing SecretBytes, for request: PresentationRequest, wallet: PostedByWallet,
    in context: RequestContext
  ) throws(ServiceError) -> [UInt8] {
    guard let challenge = OpenID4VPChallenge(kept: material, for: context.walletPath) else { throw .unreadableMaterial }
    let reader = try context.reader(for: challenge.recipient) { $0.clientID.hasSameBytes(as: $1) }
    let made = context.openID4VPRequest(request, challenge: challenge)
    let encryption: RequestEncryption?
    do throws(WalletMetadataError) {
      encryption = try wallet.metadata.flatMap { text throws(WalletMetadataError) in
        try made.encryption(for: WalletMetadata(parsing: text), signedBy: reader)
      }
    } catch {
      throw ServiceError(
        error.code, pointers: [.init(pointer: "/wallet_metadata" + error.pointer, detail: error.detail)])
    }
    do throws(CryptoError) {
      let signed = try made.signed(by: reader, walletNonce: wallet.nonce)
      return Array(try (encryption?.encrypt(signed) ?? signed).utf8)
    } catch { throw ServiceError(error) }
  }
}

/// The link of the European age verification profile (A.5), for devices without the Digital Credentials API. It
/// contains the whole request, unsigned. Nothing authenticates the relying party. The document types must therefore be
/// configured, and no element may be retained.
package struct AgeVerificationProtocol: FetchedRequestProtocol {
  package let name = "openid4vp-eu-age-verification"

  private static let scheme = "av"
  /// Cameras cannot read the QR codes of longer links.
  private static let linkBytes = 2_000
  /// A page adds a full stop and the hash of its response code to `client_id` and to `response_uri`.
  private static let codeBytes = 2 * (1 + 43)

  package init() {}

  package func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    let allowed = context.relyingParty.openID4VP.ageVerificationDocTypes
    guard !allowed.isEmpty else {
      throw ServiceError(
        .apiProtocolUnsupported, "`\(name)` needs `openid4vp.eu_age_verification` in the relying party's configuration."
      )
    }
    for (index, document) in request.documents.enumerated() {
      guard allowed.contains(where: { $0.hasSameBytes(as: document.docType) }) else {
        throw Self.error("/\(index)/doc_type", "must be one of `openid4vp.eu_age_verification` in this protocol")
      }
      if let kept = document.elements.firstIndex(where: \.intentToRetain) {
        throw Self.error("/\(index)/elements/\(kept)/intent_to_retain", "must be false in this protocol")
      }
    }
    let addresses = try context.walletAddresses(for: self)
    // A request with this client identifier must not be signed (OpenID4VP 1.0, 5.9.3).
    let clientID = "redirect_uri:" + addresses.response
    let link: String
    let outgoing: OutgoingRequest
    do throws(CryptoError) {
      let challenge = try OpenID4VPChallenge(
        freshFor: .client(id: clientID, responseURI: addresses.response), isEncrypted: false)
      // A link has no room for issuer hints.
      let made = OpenID4VPRequest(request, challenge: challenge)
      link = WalletAddresses.link(scheme: Self.scheme, made.linkParameters)
      outgoing = OutgoingRequest(
        data: ["client_id": .string(clientID), "authorization_request": .string(link)],
        material: try challenge.serialized())
    } catch { throw .cryptoFailed }
    let longest = link.utf8.count + Self.codeBytes
    guard longest <= Self.linkBytes else {
      throw Self.error(
        "", "makes a link of \(longest) characters; at most \(Self.linkBytes) are allowed. Request less, or omit `zk`")
    }
    return outgoing
  }

  private static func error(_ pointer: String, _ detail: String) -> ServiceError {
    .invalidMember("/documents" + pointer, detail)
  }

  /// The wallet fetches nothing, since the link contains the request.
  package func requestObject(
    _ material: borrowing SecretBytes, for request: PresentationRequest, wallet: PostedByWallet,
    in context: RequestContext
  ) throws(ServiceError) -> [UInt8] {
    throw .sessionNotFound
  }
}

/// OpenID4VP in the older profile of ISO/IEC TS 18013-7:2024, Annex B, if the relying party has chosen it.
struct AnnexBProtocol: FetchedRequestProtocol {
  let name = "openid4vp-iso-18013-7-annex-b"

  /// The scheme of this profile (B.3.1). The relying party's configured scheme applies only to `openid4vp`.
  private static let scheme = "mdoc-openid4vp"

  func makeRequest(_ request: PresentationRequest, in context: RequestContext) throws(ServiceError) -> OutgoingRequest {
    guard context.relyingParty.openID4VP.offersAnnexB else {
      throw ServiceError(.apiProtocolUnsupported, "This relying party does not offer the older profile of Annex B.")
    }
    let addresses = try context.walletAddresses(for: self)
    // The profile has one client identifier scheme, x509_san_dns. The identifier is the host of response_uri.
    let clientID = addresses.host
    guard try context.signingReaders(for: self).contains(where: { $0.hasDNSName(clientID) }) else {
      throw ServiceError(
        .apiProtocolUnsupported, "No reader of this relying party has the host of `public_url` as a DNS name.")
    }
    do throws(CryptoError) {
      let challenge = try OpenID4VPChallenge(
        freshFor: .client(id: clientID, responseURI: addresses.response), isEncrypted: true)
      return OutgoingRequest(
        data: addresses.requestData(scheme: Self.scheme, clientID: clientID), material: try challenge.serialized())
    } catch { throw .cryptoFailed }
  }

  func requestObject(
    _ material: borrowing SecretBytes, for request: PresentationRequest, wallet: PostedByWallet,
    in context: RequestContext
  ) throws(ServiceError) -> [UInt8] {
    guard let challenge = OpenID4VPChallenge(kept: material, for: context.walletPath),
      let made = AnnexBRequest(request, challenge: challenge)
    else { throw .unreadableMaterial }
    // In this profile, any dNSName of the leaf identifies the reader.
    let reader = try context.reader(for: challenge.recipient) { $0.hasDNSName($1) }
    do throws(CryptoError) {
      return Array(try made.signed(by: reader, walletNonce: wallet.nonce).utf8)
    } catch { throw ServiceError(error) }
  }

  func authenticate(
    _ response: WalletResponse.Content, to challenge: consuming ConsumedChallenge, by rules: VerificationRules
  ) -> Authentication {
    guard case .parameters(var response) = response, let opening = challenge.fetched(by: &response) else {
      return rules.interrupted()
    }
    return AnnexB(verifier: rules.verifier).authenticate(
      response, answering: opening, request: rules.request, names: rules.relyingParty.names,
      acceptsMACs: rules.relyingParty.openID4VP.acceptsMACs, at: rules.now)
  }
}

extension RequestContext {
  fileprivate func openID4VPRequest(
    _ request: PresentationRequest, challenge: borrowing OpenID4VPChallenge
  ) -> OpenID4VPRequest {
    OpenID4VPRequest(
      request, challenge: challenge, acceptsMACs: relyingParty.openID4VP.acceptsMACs, additions: additions)
  }
}

extension VerificationRules {
  fileprivate func authenticate(_ response: JSON, to challenge: consuming OpenID4VPChallenge) -> Authentication {
    OpenID4VP(verifier: verifier).authenticate(
      response, answering: challenge, request: request, names: relyingParty.names,
      acceptsMACs: relyingParty.openID4VP.acceptsMACs, at: now)
  }
}

extension FetchedRequestProtocol {
  package func authenticate(
    _ response: WalletResponse.Content, to challenge: consuming ConsumedChallenge, by rules: VerificationRules
  ) -> Authentication {
    guard case .parameters(var response) = response, let opening = challenge.fetched(by: &response) else {
      return rules.interrupted()
    }
    return rules.authenticate(response, to: opening)
  }

  package func decode(_ data: JSON, at pointer: String) throws(ServiceError) -> WalletResponse {
    try PostedParameters.decode(data, at: pointer, isForm: true)
  }

  package func isState(_ given: String?, _ material: borrowing SecretBytes) -> Bool {
    OpenID4VPChallenge(serialized: material)?.isState(given) ?? false
  }
}

extension ConsumedChallenge {
  /// Returns the challenge with the addresses that the wallet received. Removes the server's own member from the
  /// response.
  fileprivate borrowing func fetched(by response: inout JSON) -> OpenID4VPChallenge? {
    let code = response[PostedParameters.codeHash]?.string.flatMap { ResponseCodeHash($0) }
    response = .object((response.object ?? []).filter { $0.name != PostedParameters.codeHash })
    return OpenID4VPChallenge(kept: material, for: WalletPath(session, code))
  }
}

extension WalletAddresses {
  fileprivate func requestData(scheme: String, clientID: String) -> JSON {
    [
      "request_uri": .string(request), "request_uri_method": "post", "client_id": .string(clientID),
      "authorization_request": .string(authorizationRequest(scheme: scheme, clientID: clientID)),
    ]
  }
}

extension ServiceError {
  /// An unreadable challenge is a bug, since this server sealed it.
  fileprivate static let unreadableMaterial = ServiceError(.apiInternal, "A sealed challenge cannot be read.")
}
