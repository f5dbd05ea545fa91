import Base
import Cryptography
import JOSE
import PKIX

extension ReaderIdentity {
  /// `client_id` of requests that are signed by this reader, its prefix included (OpenID4VP 1.0, 5.9.3).
  public var clientID: String {
    switch clientIdentifier {
    case .certificateHash: "x509_hash:" + Base64.encodeURLSafe(leaf.sha256)
    case .dnsName(let name): "x509_san_dns:" + name
    }
  }

  /// Whether it goes by the name of this host: the one that was chosen for it, or else any dNSName of the leaf. Case
  /// means nothing in these (RFC 4343).
  public func hasDNSName(_ host: String) -> Bool {
    let names = if case .dnsName(let name) = clientIdentifier { [name] } else { leaf.dnsNames }
    return names.contains { $0.lowercased().hasSameBytes(as: host.lowercased()) }
  }

  /// Signs request objects (RFC 9101) in the reader's name.
  ///
  /// - Parameter parameters: of the protected header, beside its type and certificates.
  func requestSigner(parameters: [JSON.Member] = []) throws(CryptoError) -> JWSSigner {
    // The anchor is the wallet's own (HAIP 1.0, 5): one that stands in the chain by mistake is left out.
    let chain = certificates.prefix(1) + certificates.dropFirst().filter { !$0.isSelfSigned }
    do throws(JOSEError) {
      return try JWSSigner(
        key: key,
        parameters: [
          JSON.Member("typ", "oauth-authz-req+jwt"),
          JSON.Member("x5c", .array(chain.map { .string(Base64.encode($0.der)) })),
        ] + parameters)
    } catch {
      throw .unsupportedKey
    }
  }
}
