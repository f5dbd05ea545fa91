import Base
import PKIX

/// An anchor with all of its settings, also those that no settings file has: for evidence.
extension TrustAnchor {
  var json: JSON {
    [
      "certificate": .string(Base64.encode(certificate.der)), "kind": .string(kind.rawValue),
      "doc_types": docTypes.map { .array($0.map(JSON.string)) } ?? .null,
      "ekus": extendedKeyUsages.map { .array($0.sorted().map(JSON.string)) } ?? .null,
      "max_path_length": .integer(Int64(maxPathLength)),
      "relax": .array(relaxed.map(\.rawValue).sorted().map(JSON.string)), "allow_http": .bool(allowsPlainHTTP),
      "crl_addresses": .string(crlAddresses.rawValue),
      "status_signers": .array(statusSigners.map { .string(Base64.encode($0.der)) }), "tier": .string(tier.rawValue),
      "trusted_until": trustedUntil.map { .integer($0.secondsSince1970) } ?? .null,
      "source": .string(source),
    ]
  }

  /// Nil for what `json` did not give.
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
    // What was kept before there was this member fetched over HTTPS alone unless it was said otherwise.
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
    crlAddresses = addresses
    self.statusSigners = statusSigners
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
