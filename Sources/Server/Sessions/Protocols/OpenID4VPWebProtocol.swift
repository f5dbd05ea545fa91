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
      let made = OpenID4VPRequest(
        request, challenge: challenge, trustedAuthorities: context.relyingParty.openID4VP.trustedAuthorities)
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
      response, answering: opening, request: request, names: relyingParty.names, at: now)
  }
}
