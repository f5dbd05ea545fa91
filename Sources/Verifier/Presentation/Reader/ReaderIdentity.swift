import Base
import CBOR
import Cryptography
import JOSE
import PKIX

/// The identity of a reader: a relying party's key for reader authentication (ISO/IEC 18013-5:2021, 9.1.4) and for
/// signed requests of OpenID4VP, with its certificates.
public struct ReaderIdentity: Sendable {
  public let key: PrivateKey
  /// The leaf first, without the trust anchor (ISO/IEC 18013-5:2021, 9.1.4.4; HAIP 1.0).
  public let certificates: [Certificate]
  /// The client identifier of the leaf's holder in OpenID4VP.
  public let clientIdentifier: ClientIdentifier
  /// Sent in signed requests of the Digital Credentials API; nil for a reader unknown to Google Wallet.
  public let googleWalletMetadata: GoogleWalletMetadata?

  /// A client identifier prefix of OpenID4VP 1.0, 5.9.3.
  public enum ClientIdentifier: Sendable, Hashable {
    /// `x509_hash:` with the SHA-256 of the leaf, as HAIP 1.0 requires.
    case certificateHash
    /// `x509_san_dns:` with this dNSName of the leaf.
    case dnsName(String)
  }

  public init(
    key: PrivateKey, certificates: [Certificate], clientIdentifier: ClientIdentifier = .certificateHash,
    googleWalletMetadata: GoogleWalletMetadata? = nil
  ) throws(ReaderIdentityError) {
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

  /// The period in which every certificate of the chain is valid; nil if there is no such period.
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

  /// `client_id` of requests that this reader signs, including its prefix (OpenID4VP 1.0, 5.9.3).
  public var clientID: String {
    switch clientIdentifier {
    case .certificateHash: "x509_hash:" + Base64.encodeURLSafe(leaf.sha256)
    case .dnsName(let name): "x509_san_dns:" + name
    }
  }

  /// The certificate's client identifiers: by hash, and by each dNSName.
  public var certifiedClientIDs: [String] {
    ["x509_hash:" + Base64.encodeURLSafe(leaf.sha256)] + leaf.dnsNames.map { "x509_san_dns:" + $0 }
  }

  /// Whether the host is the reader's name, ignoring case (RFC 4343). That is the configured name or, if none is
  /// configured, any dNSName of the leaf.
  public func hasDNSName(_ host: String) -> Bool {
    let names = if case .dnsName(let name) = clientIdentifier { [name] } else { leaf.dnsNames }
    return names.contains { $0.lowercased().hasSameBytes(as: host.lowercased()) }
  }

  /// A request object (RFC 9101), a compact JWS.
  func signedRequest(_ members: [JSON.Member], walletNonce: String?) throws(CryptoError) -> String {
    let nonce = walletNonce.map { [JSON.Member("wallet_nonce", .string($0))] } ?? []
    return try requestSigner().sign(JSON.object(members + nonce).serialized())
  }

  /// Signs request objects (RFC 9101) in the reader's name.
  /// - Parameter parameters: further parameters of the protected header, in addition to its type and certificates.
  func requestSigner(parameters: [JSON.Member] = []) throws(CryptoError) -> JWSSigner {
    // Wallets have the anchor themselves (HAIP 1.0, 5). An anchor that is in the chain by mistake is omitted.
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

public enum ReaderIdentityError: Error, Sendable, Hashable {
  case noCertificate
  /// The leaf certifies another key.
  case keyMismatch
  /// A certificate is not signed by the next one.
  case brokenChain
  /// The leaf does not have the configured dNSName.
  case dnsNameMissing
  /// The leaf's extension holds a hash of different metadata.
  case googleWalletMetadataMismatch
}

/// The description of a relying party that Google Wallet displays: `gw_rp_metadata_bytes`, as Google or a verifier
/// registrar issues it.
///
/// `24(bstr .cbor {"schema_version": tstr, "display": DisplayInfo, ? "aggregator_info": DisplayInfo})` in base64url,
/// with `DisplayInfo = {"display_name": tstr, "logo_uri": tstr, "privacy_policy_uri": tstr}`.
public struct GoogleWalletMetadata: Sendable, Hashable {
  /// The extension of a reader's certificate that holds the SHA-256, in a DER OCTET STRING.
  public static let extensionOID = "1.3.6.1.4.1.11129.10.1"

  /// The text in base64url, as it is sent.
  public let text: String
  /// SHA-256 of all the bytes, including the head of tag 24.
  public let sha256: [UInt8]

  public init(_ text: String) throws(GoogleWalletMetadataError) {
    guard let bytes = Base64.decodeURLSafe(text) else {
      throw .init("must be base64url, without padding or white space")
    }
    guard let map = (try? CBORItem(parsing: bytes))?.embedded, map.kind == .map else {
      throw .init("must be a CBOR map in tag 24, with nothing after it")
    }
    guard map[key: "schema_version"]?.text != nil, let display = map[key: "display"] else {
      throw .init("must have schema_version and display")
    }
    let parts = [("display", display)] + (map[key: "aggregator_info"].map { [("aggregator_info", $0)] } ?? [])
    for (name, info) in parts {
      guard info[key: "display_name"]?.text?.isEmpty == false else { throw .init("must have \(name).display_name") }
      for member in ["logo_uri", "privacy_policy_uri"]
      where info[key: member]?.text?.hasPrefix("https://") != true {
        throw .init("must have an https address in \(name).\(member)")
      }
    }
    self.text = text
    sha256 = HashAlgorithm.sha256.hash(bytes)
  }

  /// Whether the certificate's extension holds this metadata's hash; nil if the certificate lacks the extension.
  public func isNamed(by leaf: Certificate) -> Bool? {
    leaf.value(ofExtension: Self.extensionOID).map { $0 == [0x04, UInt8(sha256.count)] + sha256 }
  }
}

public struct GoogleWalletMetadataError: Error, Sendable, Hashable {
  /// The rule that the text breaks.
  public let detail: String

  init(_ detail: String) { self.detail = detail }
}
