import Mdoc
import PKIX

/// Which list is wanted, and who may have signed it: what lists are fetched, verified and kept by.
///
/// Two documents may name one address but trust different signers, so the address alone says too little.
public struct StatusListSource: Sendable, Hashable {
  public let mechanism: Mechanism
  /// Where the list is, and what it must say that it is about.
  public let uri: String
  /// DER of the certificate under which the document puts the list's signer; nil: the document's own anchor.
  public let certificate: [UInt8]?
  /// The anchor that the document's signer chains to.
  public let anchor: Certificate
  /// Who may sign besides that anchor.
  public let furtherSigners: [Certificate]

  public enum Mechanism: Sendable, Hashable { case statusList, identifierList }

  public init(_ reference: StatusReference, anchor: Certificate, furtherSigners: [Certificate] = []) {
    self.furtherSigners = furtherSigners
    mechanism =
      switch reference.place {
      case .statusList: .statusList
      case .identifierList: .identifierList
      }
    uri = reference.uri
    certificate = reference.certificate
    self.anchor = anchor
  }

  /// Nil for questions about certificates, and for a path that ends nowhere.
  public init?(_ question: RevocationQuestion) {
    guard case .status(let reference) = question.subject, let anchor = question.path.last else { return nil }
    self.init(reference, anchor: anchor, furtherSigners: question.statusSigners)
  }

  /// Compares addresses by their bytes, as the list's subject is compared (Token Status List, 8.3).
  public static func == (left: Self, right: Self) -> Bool {
    left.mechanism == right.mechanism && left.uri.hasSameBytes(as: right.uri)
      && left.certificate == right.certificate && left.anchor.sha256 == right.anchor.sha256
      && left.furtherSigners.elementsEqual(right.furtherSigners) { $0.sha256 == $1.sha256 }
  }

  public func hash(into hasher: inout Hasher) {
    // Few addresses have lists for more than one signer; equality compares everything.
    hasher.combine(uri)
  }
}

extension StatusListSource.Mechanism {
  /// The type of a list in this form, which is also its media type, written with or without "application/": the
  /// examples of ISO/IEC 18013-5 leave it out.
  func types(suffix: String) -> [String] {
    let name =
      switch self {
      case .statusList: "statuslist"
      case .identifierList: "identifierlist"
      }
    return ["\(name)+\(suffix)", "application/\(name)+\(suffix)"]
  }
}
