import Base
import CBOR
import Cryptography

// Changes that several variants share.

extension AnswerSetup {
  /// Takes another document signer: on another curve, or under another anchor.
  mutating func useSigner(on curve: Curve? = nil, under anchor: AnchorKind = .good) throws {
    try useSigner(on: curve, under: authority.certificateIssuer(anchor))
    signer.nameList(at: authority.addresses.crl(of: anchor.rawValue))
  }

  mutating func useSigner(on curve: Curve? = nil, under issuer: CertificateIssuer) throws {
    signer = try MockSigner(authority: authority, under: issuer, curve: curve, at: now)
  }

  /// Puts a certificate between the anchor and the signer.
  mutating func useIntermediate(
    under anchor: AnchorKind, change: (inout CertificateTemplate) -> Void = { _ in }
  ) throws {
    let root = try authority.certificateIssuer(anchor)
    let intermediate = try authority.intermediateIssuer()
    let validity = anchor.validity(at: now)
    var template = authority.rootTemplate(intermediate, from: validity.from, until: validity.until)
    template.issuer = root.name
    template.extensions.append(.authorityKeyIdentifier(root.keyIdentifier))
    template[oid: CertificateExtension.crlDistributionPointsOID] = .crlDistributionPoint(
      uri: authority.addresses.crl(of: anchor.rawValue))
    change(&template)
    try useSigner(under: intermediate)
    signer.nameList(at: authority.addresses.crl(of: CertificateIssuer.intermediateList))
    signer.further = [try template.signed(by: root.key)]
  }

  mutating func useDigests(_ algorithm: HashAlgorithm) {
    digestAlgorithm = algorithm
    digestAlgorithmName =
      switch algorithm {
      case .sha1: "SHA-1"
      case .sha256: "SHA-256"
      case .sha384: "SHA-384"
      case .sha512: "SHA-512"
      }
  }

  /// Dates in seconds from `now`.
  mutating func setValidity(signed: Int64, from: Int64, until: Int64) {
    validity = ValidityInfo(signed: now + signed, validFrom: now + from, validUntil: now + until)
  }

  /// Makes the document attest exactly these ages.
  mutating func attestOnly(_ attestations: [(threshold: Int, value: CBORValue)], disclosing isDisclosed: Bool) {
    data.ageThresholds = []
    for (threshold, value) in attestations {
      let identifier = "age_over_\(threshold)"
      data[mainNamespace, identifier] = value
      if isDisclosed { added.append((mainNamespace, identifier)) }
    }
  }

  mutating func withholdBirthDate() { withheld.append((mainNamespace, "birth_date")) }

  /// A document that the wallet holds and that was not requested.
  var unrequestedDocument: MockDocumentData {
    held.first { $0.docType != requested.docType } ?? data
  }
}

extension [CBORValue] {
  /// The last part of a COSE_Sign1 or COSE_Mac0.
  var signature: [UInt8] {
    get { if case .bytes(let bytes)? = last { bytes } else { [] } }
    set { if let index = indices.last { self[index] = .bytes(newValue) } }
  }
}

extension [UInt8] {
  static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

  /// The same bytes with one bit of the middle byte flipped.
  var flipped: [UInt8] {
    var copy = self
    if !isEmpty { copy[count / 2] ^= 0x01 }
    return copy
  }

  /// The same bytes with the lowest bit of the last byte flipped.
  var flippedAtEnd: [UInt8] {
    var copy = self
    if let last = copy.indices.last { copy[last] ^= 0x01 }
    return copy
  }
}

extension MapDraft {
  /// The bytes under a key.
  func bytes(_ key: String) -> [UInt8] { if case .bytes(let bytes)? = self[key] { bytes } else { [] } }

  func bytes(_ label: Int) -> [UInt8] { if case .bytes(let bytes)? = self[label] { bytes } else { [] } }
}

extension CBORValue {
  /// Bytes in the place of an item, well-formed or not.
  static func raw(_ bytes: UInt8...) -> CBORValue { .encoded(bytes) }

  /// A zero inside so many nested arrays.
  static func nestedArrays(_ depth: Int) -> CBORValue { .encoded([UInt8](repeating: 0x81, count: depth) + [0x00]) }
}

/// The namespace of elements that the device itself signs in some variants.
let deviceNamespace = "org.example.device.1"
