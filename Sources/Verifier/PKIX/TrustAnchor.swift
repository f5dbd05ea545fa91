import Base

/// A certificate that a certification path may end in, and what it is trusted for.
public struct TrustAnchor: Sendable {
  public let certificate: Certificate
  public var kind: Kind
  /// Nil: not configured; the anchor is then good for any document type, with a warning.
  public var docTypes: [String]?
  /// Extended key usages of which a document signer must have one; nil: those of the document type.
  public var extendedKeyUsages: Set<String>?
  /// Certificates that may stand between the anchor and the document signer.
  public var maxPathLength: Int
  /// Security checks that only warn under this anchor, never beyond it.
  public var relaxed: Set<Code>
  /// Where the revocation lists may be asked for that certificates of this authority name.
  public var crlAddresses = CRLAddresses.named
  /// Whether all lists, status lists among them, may come over plain HTTP: they are signed, but nobody then knows who
  /// else learns of the request, or withholds a newer list.
  public var allowsPlainHTTP = false
  /// Who besides this authority may sign the status of its documents: the revocation services that a list of trusted
  /// entities names beside it. Authorities, or signers themselves.
  public var statusSigners: [Certificate] = []
  public var tier: Tier
  /// Until when the published list that names it may be relied on; nil: it is configured by itself. No allowance for
  /// clocks is made: what a list says is over when the list is.
  public var trustedUntil: Timestamp?
  /// Where it was read from, for people.
  public var source: String

  public enum Kind: String, Sendable {
    /// A certification authority, which vouches for the document signers that it certifies.
    case authority
    /// One document signer, trusted by itself: for this very certificate, and for none of its issuer's others (direct
    /// trust, ETSI TS 119 602). Everything is checked that a signer is checked for; there is no issuer to check.
    case documentSigner = "document_signer"
  }

  public enum Tier: String, Sendable { case live, test }

  /// `mdoc-mdlDS` (ISO/IEC 18013-5, B.1.4).
  public static let documentSignerUsage = "1.0.18013.5.1.2"

  /// The only checks that an anchor's settings may turn into warnings.
  public static let relaxable: Set<Code> = [
    .certificateExtendedKeyUsage, .certificateKeyUsage, .certificateJurisdictionMismatch, .anchorExpired,
    .issuerJurisdictionMismatch, .certificateIsCA,
  ]

  /// Those of them that only a signer that is itself the anchor may be relieved of: an authority that could sign
  /// documents with any certificate below it would make signers of all its authorities.
  public static let relaxableForSigners: Set<Code> = [.certificateIsCA]

  public init(
    certificate: Certificate, kind: Kind = .authority, docTypes: [String]? = nil,
    extendedKeyUsages: Set<String>? = nil, maxPathLength: Int = 0,
    relaxed: Set<Code> = [], tier: Tier = .live, source: String = ""
  ) {
    self.certificate = certificate
    self.kind = kind
    self.docTypes = docTypes
    self.extendedKeyUsages = extendedKeyUsages
    self.maxPathLength = maxPathLength
    self.relaxed = relaxed.intersection(TrustAnchor.relaxable)
    if kind == .authority { self.relaxed.subtract(TrustAnchor.relaxableForSigners) }
    self.tier = tier
    self.source = source
  }

  /// Names are other names where their bytes differ. An anchor that is good for any type stays so.
  public mutating func add(docTypes more: [String]) {
    guard let known = docTypes else { return }
    docTypes = more.reduce(into: known) { types, type in
      if !types.contains(where: { $0.hasSameBytes(as: type) }) { types.append(type) }
    }
  }

  /// Whether certification paths may end here at that time.
  public func isInForce(at now: Timestamp) -> Bool { certificate.validity.contains(now) && isListed(at: now) }

  func isListed(at now: Timestamp) -> Bool { trustedUntil.map { now <= $0 } ?? true }

  func allows(_ docType: String) -> Bool { docTypes?.contains { $0.hasSameBytes(as: docType) } ?? true }
}
