import Base
import Cryptography
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

/// The signer of a list, by a path that the document's issuer stands for (ISO/IEC 18013-5, second edition, 12.3.6).
///
/// The path ends in the certificate that the document's status names, which may also be the signer itself; where it
/// names none, in the document's own anchor. Nothing that the list brings along is trusted by itself.
struct ListSigner: Sendable {
  let certificate: Certificate
  let key: PublicKey
  /// The last instant at which every certificate of the path is valid.
  let validUntil: Timestamp
  let deviations: Set<StatusListDeviation>

  /// - Parameter chain: x5chain or x5c, the signer first.
  init(chain: [ArraySlice<UInt8>], source: StatusListSource, at now: Timestamp) throws(ListFault) {
    guard !chain.isEmpty else { throw .invalid("the list names no signer where it must") }
    let path = SignerPath.validate(
      x5chain: chain, anchors: try Self.anchors(of: source), at: now, role: .statusListSigner,
      alsoAccepting: Self.documentSignerPurposes.union([Self.anyPurpose]))
    guard path.isTrusted, let signer = path.signer, let key = signer.publicKey,
      let validUntil = path.certificates.map({ $0.validity.upperBound }).min()
    else {
      let failure = path.checks.first { $0.outcome == .failed }
      throw .invalid("its signer is not trusted: \(failure?.detail ?? "no supported key")")
    }
    certificate = signer
    self.key = key
    self.validUntil = validUntil
    deviations = Self.deviations(of: signer)
  }

  /// Certificates for tests are allowed here. Whether the document's anchor may be one was decided when the document's
  /// own path was validated, and the certificate of a status is the word of that document's issuer.
  private static func anchors(of source: StatusListSource) throws(ListFault) -> SignerPath.Anchors {
    guard let der = source.certificate else {
      return SignerPath.Anchors(
        authorities: [source.anchor] + source.furtherSigners.filter(\.extensions.isCA),
        signers: source.furtherSigners.filter { !$0.extensions.isCA }, allowsTestCertificates: true)
    }
    guard let certificate = try? Certificate(der: der) else {
      throw .invalid("the certificate that the document's status names is malformed")
    }
    return SignerPath.Anchors(authorities: [certificate], signers: [certificate], allowsTestCertificates: true)
  }

  /// A signer need not have extended key usages. One that has must have that of status lists or any; that of document
  /// signers alone is tolerated and noted, since who may sign documents could as well issue them anew. Every other
  /// purpose is another role under the same root, such as a reader's, which has no say over a document's status
  /// (RFC 5280, 4.2.1.12).
  private static func deviations(of signer: Certificate) -> Set<StatusListDeviation> {
    guard let purposes = signer.extensions.extendedKeyUsage, !purposes.contains(anyPurpose),
      !CertificateRole.statusListSigner.permits(extendedKeyUsages: purposes)
    else { return [] }
    return [.documentSignerUsage]
  }

  private static let anyPurpose = "2.5.29.37.0"
  /// With that of the European Union's person identification data.
  private static let documentSignerPurposes =
    CertificateRole.documentSigner.extendedKeyUsages.union(["1.3.130.2.0.0.1.2"])
}
