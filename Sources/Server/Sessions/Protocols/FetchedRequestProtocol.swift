import Cryptography
import Mdoc

/// A protocol whose request the wallet fetches from this server (`request_uri`, RFC 9101; OpenID4VP 1.0, 5.10).
package protocol FetchedRequestProtocol: WalletProtocol {
  /// The signed request object of a session that waits for its answer, made anew at each fetch: what it holds of the
  /// challenge stays sealed in the session until the answer comes.
  ///
  /// - Parameters:
  ///   - material: what `makeRequest` gave away.
  ///   - walletNonce: what the wallet wants to find again in the object (OpenID4VP 1.0, 5.10.1).
  func requestObject(
    _ material: borrowing SecretBytes, for request: PresentationRequest, walletNonce: String?,
    in context: RequestContext
  ) throws(ServiceError) -> [UInt8]
}
