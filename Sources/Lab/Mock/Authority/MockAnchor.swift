import Base

/// A trust anchor of the mock authority, with what a verifier in test mode is to configure for it.
///
/// The verifier trusts all of them at once; only the first has signed anything that is right in every way.
package struct MockAnchor: Sendable {
  package let name: String
  /// DER.
  package let certificate: [UInt8]
  /// The document types that it may vouch for.
  package let docTypes: [String]
  /// The extended key usages, any one of which a document signer below it must have.
  package let extendedKeyUsages: [String]
  /// Certificates between it and a document signer.
  package let maxPathLength: Int

  package init(
    name: String, certificate: [UInt8], docTypes: [String], extendedKeyUsages: [String], maxPathLength: Int
  ) {
    self.name = name
    self.certificate = certificate
    self.docTypes = docTypes
    self.extendedKeyUsages = extendedKeyUsages
    self.maxPathLength = maxPathLength
  }
}

/// The anchors that exist, each with what is particular about it.
enum AnchorKind: String, Sendable, CaseIterable {
  /// An IACA as ISO/IEC 18013-5, B.1.2 has it.
  case good = "iaca"
  case notCA = "iaca-not-ca"
  case expired = "iaca-expired"
  case notYetValid = "iaca-not-yet-valid"
  /// Its self-signature does not verify, which says nothing about a pinned anchor (RFC 5280, 6.1.1 (d)).
  case brokenSelfSignature = "iaca-broken-self-signature"
  /// Allows one certificate between itself and the signer, as Apple's Digital ID root does.
  case pathLengthOne = "iaca-path-length-1"
  case nameConstrained = "iaca-name-constrained"
  /// Trusted, but for vehicle registrations only.
  case otherDocType = "iaca-other-doc-type"

  var commonName: String {
    switch self {
    case .good: "mdoc Mock IACA"
    case .notCA: "mdoc Mock IACA without CA flag"
    case .expired: "mdoc Mock IACA expired"
    case .notYetValid: "mdoc Mock IACA not yet valid"
    case .brokenSelfSignature: "mdoc Mock IACA broken self-signature"
    case .pathLengthOne: "mdoc Mock IACA path length 1"
    case .nameConstrained: "mdoc Mock IACA name constraints"
    case .otherDocType: "mdoc Mock IACA other document type"
    }
  }

  var docTypes: [String] {
    self == .otherDocType ? ["org.iso.7367.1.mVRC"] : [MockDocType.mDL, MockDocType.photoID]
  }

  /// Nineteen years that hold `now`, from a start that changes once in ten years: an anchor handed out at a server's
  /// start stays the one that later answers chain to, byte for byte.
  func validity(at now: Timestamp) -> (from: Timestamp, until: Timestamp) {
    let decade = now.date.year / 10 * 10
    let start =
      switch self {
      case .expired: decade - 25
      case .notYetValid: decade + 15
      default: decade - 5
      }
    return (firstOfJanuary(start), firstOfJanuary(start + 19))
  }
}

/// The document types of the mock issuer.
package enum MockDocType {
  package static let mDL = "org.iso.18013.5.1.mDL"
  package static let photoID = "org.iso.23220.photoid.1"
}

private func firstOfJanuary(_ year: Int) -> Timestamp {
  let day = FullDate(year: min(max(year, 1), 9999), month: 1, day: 1)
  return day.map { Timestamp(date: $0) } ?? Timestamp(secondsSince1970: 0)
}
