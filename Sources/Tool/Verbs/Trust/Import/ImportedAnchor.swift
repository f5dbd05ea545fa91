import Base
import PKIX

/// One anchor of a list as the two files that the trust loader reads.
struct ImportedAnchor: Sendable {
  let anchor: TrustAnchor

  /// Of letters, digits and hyphens whatever the certificate says, and different for different certificates.
  var name: String {
    let subject = anchor.certificate.subject
    let words = [subject.stateOrProvince, subject.commonName ?? subject.organization].compactMap { $0 }
    let letters = words.joined(separator: "-").lowercased().unicodeScalars.map { scalar -> Character in
      ("a"..."z").contains(scalar) || ("0"..."9").contains(scalar) ? Character(scalar) : "-"
    }
    let slug = String(letters).split(separator: "-").joined(separator: "-").prefix(48)
    return (slug.isEmpty ? "" : slug + "-") + anchor.certificate.fingerprint.prefix(12)
  }

  var certificate: [UInt8] { Array(PEM.encode(certificate: anchor.certificate.der).utf8) }

  /// Everything that the list and the caller said, so that no default decides.
  var settings: [UInt8] {
    let json: JSON = .members([
      "doc_types": .array((anchor.docTypes ?? []).map { .string($0) }),
      // Without the member, each document type has its own.
      "ekus": anchor.extendedKeyUsages.map { .array($0.sorted().map { .string($0) }) },
      "max_path_length": .integer(anchor.kind == .authority ? Int64(anchor.maxPathLength) : 0),
      "crl_addresses": .string(anchor.crlAddresses.rawValue),
      "tier": .string(isForTests ? "test" : anchor.tier.rawValue), "kind": .string(anchor.kind.rawValue),
    ])
    return json.serialized(pretty: true) + [0x0a]
  }

  private var isForTests: Bool { anchor.certificate.isMock || PublishedTestRoots.contains(anchor.certificate) }

  /// In the order in which they are written: settings without their certificate stop the loader, a certificate without
  /// its settings would be trusted by the defaults.
  func files(in folder: String) -> [(path: String, bytes: [UInt8])] {
    let stem = (folder.hasSuffix("/") ? folder : folder + "/") + name
    return [(stem + ".json", settings), (stem + ".pem", certificate)]
  }

  var json: JSON {
    [
      "name": .string(name), "subject": .string(anchor.certificate.subject.text),
      "sha256": .string(anchor.certificate.fingerprint),
      "doc_types": .array((anchor.docTypes ?? []).map { .string($0) }),
      "expires_at": .integer(anchor.certificate.validity.upperBound.secondsSince1970),
      "unusable_crls": .array(anchor.unusableCRLs.map(\.json)),
    ]
  }
}
