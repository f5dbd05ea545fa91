import Base
import Cryptography
import Mdoc
import Presentation

/// The older OpenID4VP profile of ISO/IEC TS 18013-7:2024, Annex B, for the wallets that know no other: only where a
/// relying party has chosen it, and never in place of `openid4vp`.
package struct AnnexBProtocol: FetchedRequestProtocol {
  package let name = "openid4vp-iso-18013-7-annex-b"

  /// What opens wallets of this profile (B.3.1), whatever scheme the relying party has for `openid4vp`.
  private static let scheme = "mdoc-openid4vp"

  package init() {}

  package func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    guard context.relyingParty.openID4VP.offersAnnexB else {
      throw ServiceError(.apiProtocolUnsupported, "This relying party does not offer the older profile of Annex B.")
    }
    let addresses = try context.walletAddresses(for: self)
    // The profile has one scheme of client identifiers, x509_san_dns, and the name is the host of response_uri.
    let clientID = addresses.host
    guard try context.signingReaders(for: self).contains(where: { $0.hasDNSName(clientID) }) else {
      throw ServiceError(
        .apiProtocolUnsupported, "No reader of this relying party is named by the host of `public_url`.")
    }
    do throws(CryptoError) {
      let challenge = try OpenID4VPChallenge(
        freshFor: .client(id: clientID, responseURI: addresses.response), isEncrypted: true)
      return OutgoingRequest(
        data: addresses.requestData(scheme: Self.scheme, clientID: clientID),
        material: try challenge.serialized())
    } catch {
      throw .cryptoFailed
    }
  }

  package func requestObject(
    _ material: borrowing SecretBytes, for request: PresentationRequest, wallet: PostedByWallet,
    in context: RequestContext
  ) throws(ServiceError) -> [UInt8] {
    guard let challenge = OpenID4VPChallenge(kept: material, for: context.walletPath),
      let made = AnnexBRequest(request, challenge: challenge)
    else { throw .unreadableMaterial }
    // Any dNSName of the leaf will do, whatever `openid4vp` calls the reader.
    let reader = try context.reader(for: challenge.recipient) { $0.hasDNSName($1) }
    do throws(CryptoError) {
      return Array(try made.signed(by: reader, walletNonce: wallet.nonce).utf8)
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
    return AnnexB(verifier: verifier).authenticate(
      response, answering: opening, request: request, names: relyingParty.names,
      acceptsMACs: relyingParty.openID4VP.acceptsMACs, at: now)
  }
}
