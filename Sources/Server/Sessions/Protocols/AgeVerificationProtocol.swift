import Base
import Cryptography
import Mdoc
import Presentation

/// The link of the European age verification profile (A.5), for devices without the Digital Credentials API. It holds the
/// whole request, unsigned, and the wallet posts its response without encryption of its own.
///
/// Nobody vouches for the party that asks. So a relying party chooses the document types, and keeps no element.
package struct AgeVerificationProtocol: FetchedRequestProtocol {
  package let name = "openid4vp-eu-age-verification"

  private static let scheme = "av"
  /// Longer links make QR codes that cameras do not read.
  private static let linkBytes = 2_000
  /// A page puts a full stop and the hash of its response code into `client_id` and into `response_uri`.
  private static let codeBytes = 2 * (1 + 43)

  package init() {}

  package func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    let allowed = context.relyingParty.openID4VP.ageVerificationDocTypes
    guard !allowed.isEmpty else {
      throw ServiceError(
        .apiProtocolUnsupported, "`\(name)` needs `openid4vp.eu_age_verification` of the relying party's configuration."
      )
    }
    for (index, document) in request.documents.enumerated() {
      guard allowed.contains(where: { $0.hasSameBytes(as: document.docType) }) else {
        throw Self.fault("/\(index)/doc_type", "must be one of `openid4vp.eu_age_verification` in this protocol")
      }
      if let kept = document.elements.firstIndex(where: \.intentToRetain) {
        throw Self.fault("/\(index)/elements/\(kept)/intent_to_retain", "must be false in this protocol")
      }
    }
    let addresses = try context.walletAddresses(for: self)
    // OpenID4VP 1.0, 5.9.3: such a request must not be signed.
    let clientID = "redirect_uri:" + addresses.response
    let link: String
    let outgoing: OutgoingRequest
    do throws(CryptoError) {
      let challenge = try OpenID4VPChallenge(
        freshFor: .client(id: clientID, responseURI: addresses.response), isEncrypted: false)
      // Without hints of issuers, for which a link has no room.
      let made = OpenID4VPRequest(request, challenge: challenge)
      link = WalletAddresses.link(scheme: Self.scheme, made.linkParameters)
      outgoing = OutgoingRequest(
        data: ["client_id": .string(clientID), "authorization_request": .string(link)],
        material: try challenge.serialized())
    } catch {
      throw .cryptoFailed
    }
    let longest = link.utf8.count + Self.codeBytes
    guard longest <= Self.linkBytes else {
      throw Self.fault(
        "", "makes a link of \(longest) characters; \(Self.linkBytes) are allowed: ask for less, or without `zk`")
    }
    return outgoing
  }

  private static func fault(_ place: String, _ detail: String) -> ServiceError {
    ServiceError(.apiInvalidRequest, pointers: [.init(pointer: "/documents" + place, detail: detail)])
  }

  /// There is nothing to fetch: the link holds the request.
  package func requestObject(
    _ material: borrowing SecretBytes, for request: PresentationRequest, wallet: PostedByWallet,
    in context: RequestContext
  ) throws(ServiceError) -> [UInt8] {
    throw .sessionNotFound
  }

  package func decodeAnswer(_ data: JSON) throws(ServiceError) -> WalletAnswer {
    try OpenID4VPRedirectProtocol().decodeAnswer(data)
  }

  package func authenticate(
    _ answer: WalletAnswer.Content, answering challenge: consuming ConsumedChallenge, request: PresentationRequest,
    relyingParty: RelyingParty, verifier: MdocVerifier, at now: Timestamp
  ) -> Authentication {
    OpenID4VPRedirectProtocol().authenticate(
      answer, answering: challenge, request: request, relyingParty: relyingParty, verifier: verifier, at: now)
  }
}
