import Base

/// A trust anchor of the mock authority, with its settings in a verifier's test mode.
///
/// The verifier trusts all anchors at the same time. Documents are issued under the first anchor, unless a variant
/// selects another.
package struct MockAnchor: Sendable {
  package let name: String
  /// DER.
  package let certificate: [UInt8]
  /// The anchor's trusted document types.
  package fileprivate(set) var docTypes: [String]
  /// Extended key usages. A document signer must have one of them.
  package let extendedKeyUsages: [String]
  /// Maximum number of certificates between the anchor and a document signer.
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

extension MockAuthority {
  /// The anchors of all documents of the mock wallet. In the corpus, the first anchor is trusted only for the document
  /// types of the corpus.
  package func walletAnchors(at now: Timestamp) throws -> [MockAnchor] {
    var anchors = try anchors(at: now)
    if !anchors.isEmpty { anchors[0].docTypes = MockPerson.allDocuments.map(\.docType) }
    return anchors
  }
}

/// The kinds of anchors.
enum AnchorKind: String, Sendable, CaseIterable {
  /// A correct IACA (ISO/IEC 18013-5, B.1.2).
  case good = "iaca"
  case notCA = "iaca-not-ca"
  case expired = "iaca-expired"
  case notYetValid = "iaca-not-yet-valid"
  /// An anchor with an invalid self-signature. Verifiers do not check the self-signature of a pinned anchor (RFC 5280,
  /// 6.1.1 (d)).
  case brokenSelfSignature = "iaca-broken-self-signature"
  /// Allows one certificate between itself and the signer. Apple's Digital ID root does this too.
  case pathLengthOne = "iaca-path-length-1"
  case nameConstrained = "iaca-name-constrained"
  /// Trusted only for vehicle registrations.
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

  /// A validity of nineteen years, which usually includes `now`. The dates change only once in ten years, so a server's
  /// anchors stay the same.
  func validity(at now: Timestamp) -> (from: Timestamp, until: Timestamp) {
    let decade = now.date.year / 10 * 10
    let start =
      switch self {
      case .expired: decade - 25
      case .notYetValid: decade + 15
      default: decade - 5
      }
    func firstOfJanuary(_ year: Int) -> Timestamp {
      let day = FullDate(year: min(max(year, 1), 9999), month: 1, day: 1)
      return day.map { Timestamp(date: $0) } ?? Timestamp(secondsSince1970: 0)
    }
    return (firstOfJanuary(start), firstOfJanuary(start + 19))
  }
}

/// The document types of the mock issuer.
package enum MockDocType {
  package static let mDL = "org.iso.18013.5.1.mDL"
  package static let photoID = "org.iso.23220.photoid.1"
  /// The EU's proof of age. Its namespace has the same name.
  package static let proofOfAge = "eu.europa.ec.av.1"
  /// The EU's person identification data. Its namespace has the same name.
  package static let europeanPID = "eu.europa.ec.eudi.pid.1"
  package static let japanMyNumber = "org.iso.23220.1.jp.mnc"
}
