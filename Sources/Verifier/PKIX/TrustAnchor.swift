import Base

/// A certificate that a certification path may end in, and what it is trusted for.
public struct TrustAnchor: Sendable {
  public let certificate: Certificate
  public var kind: Kind
  /// Nil means that none are configured: the anchor is then good for any document type, with a warning.
  public var docTypes: [String]?
  /// Extended key usages; a document signer must have one of them. Nil means those of the document type.
  public var extendedKeyUsages: Set<String>?
  /// The most certificates that may stand between the anchor and the document signer.
  public var maxPathLength: Int
  /// Security checks that only warn under this anchor, never beyond it.
  public var relaxed: Set<Code>
  /// The rule that says which of the addresses in this authority's certificates may be asked for revocation lists.
  public var crlAddresses = CRLAddresses.named
  /// Whether all lists, status lists among them, may come over plain HTTP. They are signed, but somebody on the way may
  /// learn of the request, or withhold a newer list, without being noticed.
  public var allowsPlainHTTP = false
  /// Whether status lists of this authority's documents may also be JSON Web Tokens (Token Status List, 5.1). ISO/IEC
  /// 18013-5 has only the CBOR form.
  public var allowsJWTStatusLists = false
  /// Certificates that may sign the status of this authority's documents, beside its own. They are the revocation
  /// services that a list of trusted entities names beside it: authorities, or signers themselves.
  public var statusSigners: [Certificate] = []
  /// Whether zero-knowledge proofs below it are accepted; nil stands for yes if document types are configured.
  ///
  /// A proof does not show which document type the issuer signed. So an anchor that is good for any type is trusted with
  /// proofs only if its operator says so.
  public var allowsProofsExplicitly: Bool?
  public var allowsProofs: Bool { allowsProofsExplicitly ?? (docTypes != nil) }
  public var tier: Tier
  /// The end of the published list that names it; nil if it is configured by itself. There is no allowance for clock
  /// differences: with the list, its anchors end too.
  public var trustedUntil: Timestamp?
  /// The place it was read from, as text for people.
  public var source: String

  public enum Kind: String, Sendable {
    /// A certification authority, which vouches for the document signers that it certifies.
    case authority
    /// One document signer that is trusted by itself: this very certificate, and no other of its issuer (direct trust,
    /// ETSI TS 119 602). All checks of a signer are made; there is no issuer to check.
    case documentSigner = "document_signer"
  }

  public enum Tier: String, Sendable { case live, test }

  /// The document type of mobile driving licences, the only one whose signers must name their purpose.
  public static let mDL = "org.iso.18013.5.1.mDL"
  /// `mdoc-mdlDS` (ISO/IEC 18013-5, B.1.4).
  public static let documentSignerUsage = "1.0.18013.5.1.2"

  /// The only checks that an anchor's settings may turn into warnings.
  public static let relaxable: Set<Code> = [
    .certificateExtendedKeyUsage, .certificateKeyUsage, .certificateJurisdictionMismatch, .anchorExpired,
    .issuerJurisdictionMismatch, .certificateIsCA,
  ]

  /// Checks that may be relaxed only for a signer that is itself the anchor. For an authority, this would make signers
  /// of all the authorities below it.
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

  /// Names are compared by their bytes. An anchor that is good for any type stays so.
  public mutating func add(docTypes more: [String]) {
    guard let known = docTypes else { return }
    docTypes = more.reduce(into: known) { types, type in
      if !types.contains(where: { $0.hasSameBytes(as: type) }) { types.append(type) }
    }
  }

  /// Whether certification paths may end here at that time.
  public func isInForce(at now: Timestamp) -> Bool { certificate.validity.contains(now) && isListed(at: now) }

  func isListed(at now: Timestamp) -> Bool { trustedUntil.map { now <= $0 } ?? true }

  package func allows(_ docType: String) -> Bool { docTypes?.contains { $0.hasSameBytes(as: docType) } ?? true }
}

/// Which of the addresses that certificates name are asked for their authority's revocation lists.
///
/// Only the certificates of a validated path name them: nothing that a wallet or a document says leads here.
public enum CRLAddresses: String, Sendable, CaseIterable {
  /// As the certificates name them: also over plain HTTP, which RFC 5280, 8 expects of lists that are signed
  /// themselves, and at other ports. The authorities of some states have no other address. Others on the way see which
  /// list is asked for, and can withhold a newer list until the older one ends.
  case named
  /// Only over HTTPS on its standard port.
  case https
}
