import Base
import Cryptography
import JOSE
import PKIX

/// The identity of the party that asks: a relying party's key for reader authentication (ISO/IEC 18013-5:2021, 9.1.4)
/// and for signed requests of OpenID4VP, with the certificates that vouch for it.
public struct ReaderIdentity: Sendable {
  public let key: PrivateKey
  /// The leaf first; no trust anchor among them (ISO/IEC 18013-5:2021, 9.1.4.4; HAIP 1.0).
  public let certificates: [Certificate]
  /// The client identifier by which OpenID4VP names the leaf's holder.
  public let clientIdentifier: ClientIdentifier
  /// Sent in signed requests of the Digital Credentials API; nil for a reader that Google Wallet does not know.
  public let googleWalletMetadata: GoogleWalletMetadata?

  /// A client identifier prefix of OpenID4VP 1.0, 5.9.3.
  public enum ClientIdentifier: Sendable, Hashable {
    /// `x509_hash:` with the SHA-256 of the leaf, as HAIP 1.0 requires.
    case certificateHash
    /// `x509_san_dns:` with this dNSName of the leaf.
    case dnsName(String)
  }

  public enum Problem: Error, Sendable, Hashable {
    case noCertificate
    /// The leaf certifies another key.
    case keyMismatch
    /// A certificate is not signed by the next one.
    case brokenChain
    /// The leaf has no such dNSName.
    case dnsNameMissing
    /// The leaf's extension holds the hash of other metadata.
    case googleWalletMetadataMismatch
  }

  public init(
    key: PrivateKey, certificates: [Certificate], clientIdentifier: ClientIdentifier = .certificateHash,
    googleWalletMetadata: GoogleWalletMetadata? = nil
  ) throws(Problem) {
    guard let leaf = certificates.first else { throw .noCertificate }
    guard leaf.publicKey == key.publicKey else { throw .keyMismatch }
    guard Certificate.isChain(certificates) else { throw .brokenChain }
    if case .dnsName(let name) = clientIdentifier, !leaf.dnsNames.contains(name) { throw .dnsNameMissing }
    if googleWalletMetadata?.isNamed(by: leaf) == false { throw .googleWalletMetadataMismatch }
    self.key = key
    self.certificates = certificates
    self.clientIdentifier = clientIdentifier
    self.googleWalletMetadata = googleWalletMetadata
  }

  public var leaf: Certificate { certificates[0] }

  /// The time in which every certificate of the chain is valid; nil if there is no such time.
  public var validity: ClosedRange<Timestamp>? {
    let from = certificates.map(\.validity.lowerBound).max() ?? leaf.validity.lowerBound
    let until = certificates.map(\.validity.upperBound).min() ?? leaf.validity.upperBound
    return from <= until ? from...until : nil
  }

  /// The checks of the leaf against its profile (ISO/IEC 18013-5:2021, B.1.7).
  public func profile(at now: Timestamp) -> [Check] {
    CertificateProfile.check(
      leaf, as: .readerAuthentication, issuer: certificates.count > 1 ? certificates[1] : nil, at: now)
  }
}

extension ReaderIdentity {
  /// `client_id` of requests that are signed by this reader, its prefix included (OpenID4VP 1.0, 5.9.3).
  public var clientID: String {
    switch clientIdentifier {
    case .certificateHash: "x509_hash:" + Base64.encodeURLSafe(leaf.sha256)
    case .dnsName(let name): "x509_san_dns:" + name
    }
  }

  /// The client identifiers that its certificate vouches for: by hash, and by each dNSName.
  public var certifiedClientIDs: [String] {
    ["x509_hash:" + Base64.encodeURLSafe(leaf.sha256)] + leaf.dnsNames.map { "x509_san_dns:" + $0 }
  }

  /// Whether the host is one of its names: the name that was chosen for it, or else any dNSName of the leaf. Case does
  /// not matter in these (RFC 4343).
  public func hasDNSName(_ host: String) -> Bool {
    let names = if case .dnsName(let name) = clientIdentifier { [name] } else { leaf.dnsNames }
    return names.contains { $0.lowercased().hasSameBytes(as: host.lowercased()) }
  }

  /// Signs request objects (RFC 9101) in the reader's name.
  ///
  /// - Parameter parameters: further parameters of the protected header, beside its type and certificates.
  func requestSigner(parameters: [JSON.Member] = []) throws(CryptoError) -> JWSSigner {
    // Wallets have the anchor themselves (HAIP 1.0, 5). One that is in the chain by mistake is left out.
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
