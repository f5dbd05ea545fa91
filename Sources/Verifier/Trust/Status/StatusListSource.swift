import Base
import Cryptography
import Mdoc
import PKIX

/// The required list and its possible signers. Lists are fetched, verified and cached under this key.
public struct StatusListSource: Sendable, Hashable {
  public let mechanism: Mechanism
  /// The address of the list. The list must have this address as its subject.
  public let uri: String
  /// DER of the certificate that the document states for the list's signer; nil means the document's own anchor.
  public let certificate: [UInt8]?
  /// The anchor that the document's signer chains to.
  public let anchor: Certificate
  /// The certificates that may sign the list besides the anchor.
  public let furtherSigners: [Certificate]
  /// Whether the anchor's settings also permit a JSON Web Token; false for an identifier list.
  public let allowsJWT: Bool

  public enum Mechanism: Sendable, Hashable { case statusList, identifierList }

  public init(
    _ reference: StatusReference, anchor: Certificate, furtherSigners: [Certificate] = [], allowsJWT: Bool = false
  ) {
    self.furtherSigners = furtherSigners
    mechanism =
      switch reference.entry {
      case .statusList: .statusList
      case .identifierList: .identifierList
      }
    self.allowsJWT = allowsJWT && mechanism == .statusList
    uri = reference.uri
    certificate = reference.certificate
    self.anchor = anchor
  }

  /// Nil for questions about certificates and for an empty path.
  public init?(_ question: RevocationQuestion) {
    guard case .status(let reference) = question.subject, let anchor = question.path.last else { return nil }
    self.init(
      reference, anchor: anchor, furtherSigners: question.statusSigners, allowsJWT: question.allowsJWT)
  }

  /// Compares addresses by their bytes, as the list's subject is compared (Token Status List, 8.3).
  public static func == (left: Self, right: Self) -> Bool {
    left.mechanism == right.mechanism && left.allowsJWT == right.allowsJWT && left.uri.hasSameBytes(as: right.uri)
      && left.certificate == right.certificate && left.anchor.sha256 == right.anchor.sha256
      && left.furtherSigners.elementsEqual(right.furtherSigners) { $0.sha256 == $1.sha256 }
  }

  public func hash(into hasher: inout Hasher) {
    // Hashing the address suffices: few addresses have lists of several signers.
    hasher.combine(uri)
  }
}

extension StatusListSource.Mechanism {
  /// The type of a list in this form, and its media type. The examples of ISO/IEC 18013-5 leave out "application/".
  func types(suffix: String) -> [String] {
    let name =
      switch self {
      case .statusList: "statuslist"
      case .identifierList: "identifierlist"
      }
    return ["\(name)+\(suffix)", "application/\(name)+\(suffix)"]
  }
}

/// The signer of a list, on a path that the document's issuer vouches for (ISO/IEC 18013-5, second edition, 12.3.6).
///
/// The path ends in the certificate in the document's status, which may be the signer's own. If the status contains no
/// certificate, the path ends in the document's own anchor or in one of the further signers. No certificate is trusted
/// only because the list contains it.
struct ListSigner: Sendable {
  let certificate: Certificate
  let key: PublicKey
  /// The last instant at which every certificate of the path is valid.
  let validUntil: Timestamp
  let deviations: Set<StatusListDeviation>

  /// - Parameter chain: x5chain or x5c, the signer first.
  init(chain: [ArraySlice<UInt8>], source: StatusListSource, at now: Timestamp) throws(RevocationListError) {
    guard !chain.isEmpty else { throw .invalid("the list names no signer in its protected header") }
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

  /// Test certificates are allowed only under a test anchor. The document's own path has shown that the anchor is
  /// trusted. Like the issuer, the signer of a status decides whether documents are valid.
  private static func anchors(of source: StatusListSource) throws(RevocationListError) -> SignerPath.Anchors {
    guard let der = source.certificate else {
      return SignerPath.Anchors(
        authorities: [source.anchor] + source.furtherSigners.filter(\.extensions.isCA),
        signers: source.furtherSigners.filter { !$0.extensions.isCA },
        allowsTestCertificates: source.anchor.isForTests)
    }
    guard let certificate = try? Certificate(der: der) else {
      throw .invalid("the certificate in the document's status is malformed")
    }
    return SignerPath.Anchors(
      authorities: [certificate], signers: [certificate], allowsTestCertificates: source.anchor.isForTests)
  }

  /// A signer may lack extended key usages. If it has extended key usages, one must be for status lists or for any
  /// purpose. A document signer's usage is tolerated and recorded, since such a signer could also reissue the document.
  /// A signer with other usages has another role under the same root, and must not decide about a document's status
  /// (RFC 5280, 4.2.1.12).
  private static func deviations(of signer: Certificate) -> Set<StatusListDeviation> {
    guard let purposes = signer.extensions.extendedKeyUsage, !purposes.contains(anyPurpose),
      !CertificateRole.statusListSigner.permits(extendedKeyUsages: purposes)
    else { return [] }
    return [.documentSignerUsage]
  }

  private static let anyPurpose = "2.5.29.37.0"
  /// The usages of document signers, including the usage for the European Union's person identification data.
  private static let documentSignerPurposes =
    CertificateRole.documentSigner.extendedKeyUsages.union(["1.3.130.2.0.0.1.2"])
}
