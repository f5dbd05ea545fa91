import Base
import Mdoc
import Presentation

/// Who signs the requests of a session (OpenID4VP 1.0, 5.9.3 and A.3.2).
extension RequestContext {
  /// Those who sign in the relying party's name, at least one, all of them valid now.
  func signingReaders(for wallet: some WalletProtocol) throws(ServiceError) -> [ReaderIdentity] {
    guard !relyingParty.readers.isEmpty else {
      throw ServiceError(
        .apiProtocolUnsupported, "`\(wallet.name)` needs a reader, and this relying party has none configured.")
    }
    let valid = relyingParty.readers.filter { $0.validity?.contains(now) ?? false }
    guard !valid.isEmpty else { throw ServiceError(.readerCertificateExpired) }
    return valid
  }

  /// The reader whose name the session's request bears, valid now: it may have been replaced since.
  ///
  /// - Parameter isNamed: whether a `client_id` of the protocol means a reader.
  func reader(
    for recipient: OpenID4VPRecipient, isNamed: (ReaderIdentity, String) -> Bool
  ) throws(ServiceError) -> ReaderIdentity {
    let named = relyingParty.readers.filter { reader in
      if case .client(let id, _) = recipient { isNamed(reader, id) } else { false }
    }
    guard !named.isEmpty else {
      throw ServiceError(.apiProtocolUnsupported, "The reader of this session's request is no longer configured.")
    }
    guard let valid = named.first(where: { $0.validity?.contains(now) ?? false }) else {
      throw ServiceError(.readerCertificateExpired)
    }
    return valid
  }

  /// What is signed again at each fetch is not to be of any length.
  static func check(walletNonce: String?) throws(ServiceError) {
    guard walletNonce?.utf8.count ?? 0 <= Limits.walletNonceBytes else {
      throw ServiceError(
        .apiInvalidRequest,
        pointers: [.init(pointer: "/wallet_nonce", detail: "must have at most \(Limits.walletNonceBytes) bytes")])
    }
  }
}
