import Primitives

/// A certificate that a certification path may end in, and what it is trusted for.
public struct TrustAnchor: Sendable {
  public let certificate: Certificate
  /// Nil: not configured; the anchor is then good for any document type, with a warning.
  public var docTypes: [String]?
  /// Extended key usages of which a document signer must have one.
  public var extendedKeyUsages: Set<String>
  /// Certificates that may stand between the anchor and the document signer.
  public var maxPathLength: Int
  /// Security checks that only warn under this anchor, never beyond it.
  public var relaxed: Set<Code>
  public var tier: Tier
  /// Where it was read from, for people.
  public var source: String

  public enum Tier: String, Sendable { case live, test }

  /// `mdoc-mdlDS` (ISO/IEC 18013-5, B.1.4).
  public static let documentSignerUsage = "1.0.18013.5.1.2"

  /// The only checks that an anchor's settings may turn into warnings.
  public static let relaxable: Set<Code> = [
    .certificateExtendedKeyUsage, .certificateKeyUsage, .certificateJurisdictionMismatch, .anchorExpired,
    .issuerJurisdictionMismatch,
  ]

  public init(
    certificate: Certificate, docTypes: [String]? = nil,
    extendedKeyUsages: Set<String> = [TrustAnchor.documentSignerUsage], maxPathLength: Int = 0,
    relaxed: Set<Code> = [], tier: Tier = .live, source: String = ""
  ) {
    self.certificate = certificate
    self.docTypes = docTypes
    self.extendedKeyUsages = extendedKeyUsages
    self.maxPathLength = maxPathLength
    self.relaxed = relaxed.intersection(TrustAnchor.relaxable)
    self.tier = tier
    self.source = source
  }

  func allows(_ docType: String) -> Bool { docTypes?.contains { $0.hasSameBytes(as: docType) } ?? true }
}
