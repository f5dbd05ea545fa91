import Base

/// A certificate in which a certification path may end, and the purposes for which it is trusted.
public struct TrustAnchor: Sendable {
  public let certificate: Certificate
  public var kind: Kind
  /// The trusted document types; nil means any type, with a warning.
  public var docTypes: [String]?
  /// Extended key usages; a document signer must have one of them. Nil means the document type's usages.
  public var extendedKeyUsages: Set<String>?
  /// Maximum number of certificates between the anchor and the document signer.
  public var maxPathLength: Int
  /// Security checks whose failures are only warnings under this anchor.
  public var relaxed: Set<Code>
  /// The addresses in this authority's certificates from which revocation lists may be fetched.
  public var crlAddresses = CRLAddresses.named
  /// Whether all lists may be fetched over plain HTTP. Others on the network path may then see the request, or withhold
  /// a newer list.
  public var allowsPlainHTTP = false
  /// Whether status lists may also be JSON Web Tokens (Token Status List, 5.1). ISO/IEC 18013-5 has only the CBOR form.
  public var allowsJWTStatusLists = false
  /// Certificates that may also sign the status of this authority's documents, as authorities or signers. A list of
  /// trusted entities has them as revocation services beside the authority.
  public var statusSigners: [Certificate] = []
  /// Whether zero-knowledge proofs under this anchor are accepted; nil means yes if document types are configured. A
  /// proof does not show which document type the issuer signed.
  public var allowsProofsExplicitly: Bool?
  public var allowsProofs: Bool { allowsProofsExplicitly ?? (docTypes != nil) }
  public var tier: Tier
  /// The expiry of the anchor's published list, without clock skew; nil if the anchor is configured directly.
  public var trustedUntil: Timestamp?
  /// The anchor's origin, as display text.
  public var source: String

  public enum Kind: String, Sendable {
    /// A certification authority. It vouches for the document signers that it certifies.
    case authority
    /// One document signer that is trusted directly (ETSI TS 119 602). Other signers of its issuer are not trusted.
    case documentSigner = "document_signer"
  }

  public enum Tier: String, Sendable { case live, test }

  /// The document type of mobile driving licences, the only one whose signers must state their purpose.
  public static let mDL = "org.iso.18013.5.1.mDL"
  /// `mdoc-mdlDS` (ISO/IEC 18013-5, B.1.4).
  public static let documentSignerUsage = "1.0.18013.5.1.2"

  /// The only checks that an anchor's settings may turn into warnings.
  public static let relaxable: Set<Code> = [
    .certificateExtendedKeyUsage, .certificateKeyUsage, .certificateJurisdictionMismatch, .anchorExpired,
    .issuerJurisdictionMismatch, .certificateIsCA,
  ]

  /// Checks that may be relaxed only for a pinned signer. Relaxed for an authority, they would permit every authority
  /// below it to sign documents.
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

  /// Adds document types. Names are compared by their bytes. An anchor for any type remains an anchor for any type.
  public mutating func add(docTypes more: [String]) {
    guard let known = docTypes else { return }
    docTypes = more.reduce(into: known) { types, type in
      if !types.contains(where: { $0.hasSameBytes(as: type) }) { types.append(type) }
    }
  }

  /// True if certification paths may end here at that time.
  public func isInForce(at now: Timestamp) -> Bool { certificate.validity.contains(now) && isListed(at: now) }

  func isListed(at now: Timestamp) -> Bool { trustedUntil.map { now <= $0 } ?? true }

  package func allows(_ docType: String) -> Bool { docTypes?.contains { $0.hasSameBytes(as: docType) } ?? true }
}

/// The addresses in certificates of a validated path from which their authority's revocation lists are fetched.
public enum CRLAddresses: String, Sendable, CaseIterable {
  /// Also over plain HTTP and at other ports. RFC 5280, 8 expects plain HTTP for signed lists. Some states have no
  /// other address. Others on the network path see which list is fetched, and can withhold a newer list until the older
  /// one expires.
  case named
  /// Only over HTTPS on its standard port.
  case https
}

extension Code {
  public static let issuerJurisdictionMismatch = Code(
    "mdoc.issuer.jurisdiction_mismatch", "The document's issuing country or jurisdiction differs from its signer's",
    "\(iso), 9.3.1", .issuer, passes: "The document's jurisdiction matches its issuer's")
}
