import Base
import Cryptography
import Mdoc
import Presentation

/// OpenID4VP over the Digital Credentials API (OpenID4VP 1.0, appendix A) as the service sees it.
package struct OpenID4VPWebProtocol: WalletProtocol {
  /// How the request vouches for who asks.
  package enum Signing: Sendable, Hashable, CaseIterable {
    /// By the origin alone, for which the browser vouches.
    case unsigned
    case signed
    /// By every reader of the relying party, for wallets that know different authorities.
    case multisigned
  }

  package let signing: Signing

  package init(_ signing: Signing) { self.signing = signing }

  package var name: String {
    switch signing {
    case .unsigned: "openid4vp-v1-unsigned"
    case .signed: "openid4vp-v1-signed"
    case .multisigned: "openid4vp-v1-multisigned"
    }
  }

  /// The parameters themselves, `{"request": JWS}`, or `{"request": {"payload", "signatures"}}`.
  package func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    guard let origin = context.origin else {
      throw ServiceError(.apiInvalidRequest, pointers: [.init(pointer: "/origin", detail: "is required")])
    }
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
    } catch {
      throw .cryptoFailed
    }
  }

  package func decodeAnswer(_ data: JSON) throws(ServiceError) -> WalletAnswer {
    try WalletResponse.decode(data, isForm: false)
  }

  package func authenticate(
    _ answer: WalletAnswer.Content, answering challenge: consuming ConsumedChallenge, request: PresentationRequest,
    relyingParty: RelyingParty, verifier: MdocVerifier, at now: Timestamp
  ) -> Authentication {
    guard case .parameters(let response) = answer, let opening = OpenID4VPChallenge(serialized: challenge.material)
    else {
      // What we sealed ourselves opened but does not read: only a fault of ours can make it.
      return verifier.refuse([Check(.sessionInterrupted, .failed)], at: now)
    }
    return OpenID4VP(verifier: verifier).authenticate(
      response, answering: opening, request: request, names: relyingParty.names,
      acceptsMACs: relyingParty.openID4VP.acceptsMACs, at: now)
  }
}

/// OpenID4VP by redirect or QR code as the service sees it: the wallet fetches a signed request object and posts its
/// answer (`direct_post.jwt`, or `direct_post` where the relying party wants clear answers).
package struct OpenID4VPRedirectProtocol: FetchedRequestProtocol {
  package let name = "openid4vp"

  package init() {}

  /// `request_uri` and what a page or a QR code needs around it.
  package func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    let addresses = try context.walletAddresses(for: self)
    let reader = try context.signingReaders(for: self)[0]
    // The wallet compares the name with where it is to post its answer (5.9.3).
    if case .dnsName = reader.clientIdentifier, !reader.hasDNSName(addresses.host) {
      throw ServiceError(
        .apiProtocolUnsupported, "The reader's certificate is for another host than that of `public_url`.")
    }
    do throws(CryptoError) {
      let challenge = try OpenID4VPChallenge(
        freshFor: .client(id: reader.clientID, responseURI: addresses.response),
        isEncrypted: context.relyingParty.openID4VP.encryptsResponses)
      return OutgoingRequest(
        data: addresses.requestData(scheme: context.relyingParty.openID4VP.scheme, clientID: reader.clientID),
        material: try challenge.serialized())
    } catch {
      throw .cryptoFailed
    }
  }

  package func requestObject(
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
    } catch {
      throw .cryptoFailed
    }
  }

  package func decodeAnswer(_ data: JSON) throws(ServiceError) -> WalletAnswer {
    try WalletResponse.decode(data, isForm: true)
  }

  package func authenticate(
    _ answer: WalletAnswer.Content, answering challenge: consuming ConsumedChallenge, request: PresentationRequest,
    relyingParty: RelyingParty, verifier: MdocVerifier, at now: Timestamp
  ) -> Authentication {
    guard case .parameters(var response) = answer, let opening = challenge.fetched(answeredBy: &response) else {
      // What we sealed ourselves opened but does not read: only a fault of ours can make it.
      return verifier.refuse([Check(.sessionInterrupted, .failed)], at: now)
    }
    return OpenID4VP(verifier: verifier).authenticate(
      response, answering: opening, request: request, names: relyingParty.names,
      acceptsMACs: relyingParty.openID4VP.acceptsMACs, at: now)
  }
}

extension RequestContext {
  /// The request as the relying party has chosen it to be.
  func openID4VPRequest(
    _ request: PresentationRequest, challenge: borrowing OpenID4VPChallenge
  ) -> OpenID4VPRequest {
    OpenID4VPRequest(
      request, challenge: challenge, acceptsMACs: relyingParty.openID4VP.acceptsMACs, additions: additions)
  }
}

extension FetchedRequestProtocol {
  package func isState(_ given: String?, _ material: borrowing SecretBytes) -> Bool {
    OpenID4VPChallenge(serialized: material)?.isState(given) ?? false
  }
}

extension ConsumedChallenge {
  /// The challenge as the wallet had it that fetched its request. Takes out of the response what is not the wallet's.
  borrowing func fetched(answeredBy response: inout JSON) -> OpenID4VPChallenge? {
    let code = response[WalletResponse.codeHash]?.string.flatMap { ResponseCodeHash($0) }
    response = .object((response.object ?? []).filter { $0.name != WalletResponse.codeHash })
    return OpenID4VPChallenge(kept: material, for: WalletPath(session, code))
  }
}

extension WalletAddresses {
  /// `data` of the session's request.
  func requestData(scheme: String, clientID: String) -> JSON {
    [
      "request_uri": .string(request), "request_uri_method": "post", "client_id": .string(clientID),
      "authorization_request": .string(authorizationRequest(scheme: scheme, clientID: clientID)),
    ]
  }
}

extension ServiceError {
  /// What we sealed ourselves opened but does not read: only a fault of ours can make it.
  static let unreadableMaterial = ServiceError(.apiInternal, "A sealed challenge cannot be read.")
}
