import Base
import Mdoc
import PKIX

/// The trust anchors on which one verdict depends, with the fingerprint of the whole store. Evidence contains only
/// these anchors. Other anchors do not affect the verdict, and a store may have hundreds.
///
/// The store's own rules evaluate them. The audit log's entry for the attempt has the fingerprint of the whole store.
public struct TrustExcerpt: IssuerTrust {
  public let snapshot: String
  private let store: TrustStore

  /// - Parameter fingerprints: SHA-256 of the certificates, in hexadecimal.
  /// - Throws: `trust.store_empty` if the store has none of them.
  public init(of store: TrustStore, anchors fingerprints: Set<String>) throws(TrustStoreError) {
    snapshot = store.snapshot
    self.store = try TrustStore(
      anchors: store.anchors.filter { fingerprints.contains($0.certificate.fingerprint) },
      allowsTestCertificates: store.validator.allowsTestCertificates, allowsTestTier: store.allowsTestTier)
  }

  public func evaluate(chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64) -> PathEvaluation {
    store.evaluate(chain: chain, docType: docType, at: now, skew: skew)
  }

  public var json: JSON {
    ["snapshot": .string(snapshot), "anchors": .array(store.anchors.map(\.json))]
  }

  /// Reads the output of `json`, with the parameters of that mode. Nil for other input, and if no anchor would be
  /// trusted.
  public init?(_ json: JSON, allowsTestCertificates: Bool, allowsTestTier: Bool? = nil) {
    guard let snapshot = json["snapshot"]?.string, let array = json["anchors"]?.array else { return nil }
    let anchors = array.compactMap(TrustAnchor.init)
    guard anchors.count == array.count,
      let store = try? TrustStore(
        anchors: anchors, allowsTestCertificates: allowsTestCertificates, allowsTestTier: allowsTestTier)
    else { return nil }
    self.snapshot = snapshot
    self.store = store
  }
}

extension TrustAnchor {
  /// The anchor with all its settings, for evidence. No settings file contains some of these settings.
  var json: JSON {
    .members([
      "certificate": .string(Base64.encode(certificate.der)), "kind": .string(kind.rawValue),
      "doc_types": docTypes.map { .array($0.map(JSON.string)) } ?? .null,
      "ekus": extendedKeyUsages.map { .array($0.sorted().map(JSON.string)) } ?? .null,
      "max_path_length": .integer(Int64(maxPathLength)),
      "relax": .array(relaxed.map(\.rawValue).sorted().map(JSON.string)), "allow_http": .bool(allowsPlainHTTP),
      "crl_addresses": .string(crlAddresses.rawValue),
      "status_signers": .array(statusSigners.map { .string(Base64.encode($0.der)) }), "tier": .string(tier.rawValue),
      "trusted_until": trustedUntil.map { .integer($0.secondsSince1970) } ?? .null,
      "source": .string(source), "zk": allowsProofsExplicitly.map { .bool($0) },
      "jwt_status_lists": allowsJWTStatusLists ? true : nil,
    ])
  }

  init?(_ json: JSON) {
    guard let certificate = json["certificate"].flatMap(Self.certificate),
      let kind = json["kind"]?.string.flatMap(Kind.init), let usages = json["ekus"],
      let length = json["max_path_length"]?.integer.flatMap(Int.init(exactly:)),
      let relaxed = json["relax"].flatMap(Self.texts), let allowsHTTP = json["allow_http"]?.bool,
      let signers = json["status_signers"]?.array, let tier = json["tier"]?.string.flatMap(Tier.init),
      let source = json["source"]?.string, let listed = json["doc_types"], let end = json["trusted_until"],
      listed.isNull || Self.texts(listed) != nil, usages.isNull || Self.texts(usages) != nil,
      end.isNull || end.integer != nil
    else { return nil }
    // Older evidence lacks this member. Its lists came over HTTPS only, unless plain HTTP was allowed.
    let addresses = json["crl_addresses"].map { $0.string.flatMap(CRLAddresses.init) } ?? (allowsHTTP ? .named : .https)
    guard let addresses else { return nil }
    let codes = relaxed.compactMap(Code.init)
    let statusSigners = signers.compactMap(Self.certificate)
    guard codes.count == relaxed.count, statusSigners.count == signers.count else { return nil }
    self.init(
      certificate: certificate, kind: kind, docTypes: Self.texts(listed),
      extendedKeyUsages: Self.texts(usages).map { Set($0) }, maxPathLength: length, relaxed: Set(codes), tier: tier,
      source: source)
    allowsPlainHTTP = allowsHTTP
    allowsJWTStatusLists = json["jwt_status_lists"]?.bool ?? false
    crlAddresses = addresses
    self.statusSigners = statusSigners
    allowsProofsExplicitly = json["zk"]?.bool
    trustedUntil = end.integer.map { Timestamp(secondsSince1970: $0) }
  }

  private static func certificate(_ json: JSON) -> Certificate? {
    json.string.flatMap(Base64.decode).flatMap { try? Certificate(der: $0) }
  }

  private static func texts(_ json: JSON) -> [String]? {
    guard let array = json.array else { return nil }
    let texts = array.compactMap(\.string)
    return texts.count == array.count ? texts : nil
  }
}
