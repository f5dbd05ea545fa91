import Base
import PKIX
import Trust

/// A published list of trust anchors in a file, and what it comes to under the signers that were named.
struct ListFile: Sendable {
  enum Format: String, Sendable {
    case vical
    case trustedEntities = "trusted_entities"
  }

  let format: Format
  let bytes: [UInt8]

  /// Nil where the content has the outer form of neither list.
  init?(_ bytes: [UInt8]) {
    // An array of four, as COSE_Sign1 is, or one without its length; no text begins so.
    if bytes.first == 0x84 || bytes.first == 0x9f {
      format = .vical
    } else {
      let text = String(decoding: bytes, as: UTF8.self).drop(while: \.isWhitespace)
      let isSigned = text.split(separator: ".", omittingEmptySubsequences: false).count == 3 && text.hasPrefix("ey")
      guard isSigned || UnverifiedList(bytes) != nil else { return nil }
      format = .trustedEntities
    }
    self.bytes = bytes
  }

  /// What a reader found.
  struct Judgement: Sendable {
    let checks: [Check]
    /// Empty unless the list is accepted.
    let anchors: [TrustAnchor]
    let signerPath: [Certificate]
    let validUntil: Timestamp?
    let isAccepted: Bool
    /// Entries that can't be used.
    let leftOut: Int

    /// Whether the certificate that was named as the signer's anchor is the signer's own.
    var isSignedByItsAnchor: Bool { isAccepted && signerPath.count == 1 }

    /// Who then vouches for the signer, for people.
    var ownAnchor: String {
      signerPath.first?.isSelfSigned == true
        ? "the signer itself, whose certificate is self-signed: nobody else vouches for it"
        : "the signer itself: nobody else's word was asked for it"
    }
  }

  /// How an anchor is to be used beside what the list says of it.
  struct Use: Sendable {
    var signers: [Certificate] = []
    /// Of a list of trusted entities: the document types that each type of service issues.
    var services: [String: [String]] = [:]
    /// Nil: those of the document types.
    var extendedKeyUsages: Set<String>?
    var maxPathLength = 0
    var crlAddresses = CRLAddresses.named
  }

  func judge(_ use: Use, at now: Timestamp) -> Judgement {
    // Whoever names a file here means it, test anchors included.
    let signers = SignerPath.Anchors(configured: use.signers, allowsTestCertificates: true)
    switch format {
    case .vical:
      let found = VICALVerifier(
        source: VICALSource(
          signers: signers, extendedKeyUsages: use.extendedKeyUsages, maxPathLength: use.maxPathLength,
          crlAddresses: .init(use.crlAddresses))
      ).evaluate(bytes, at: now)
      return Judgement(
        checks: found.checks, anchors: found.anchors, signerPath: found.signerPath, validUntil: found.validUntil,
        isAccepted: found.isAccepted, leftOut: found.list?.contents.leftOut ?? 0)
    case .trustedEntities:
      let found = TrustedEntityListVerifier(
        source: TrustedEntityListSource(
          signers: signers, issuance: use.services, extendedKeyUsages: use.extendedKeyUsages,
          maxPathLength: use.maxPathLength, crlAddresses: .init(use.crlAddresses))
      ).evaluate(bytes, at: now)
      return Judgement(
        checks: found.checks, anchors: found.anchors, signerPath: found.signerPath, validUntil: found.validUntil,
        isAccepted: found.isAccepted, leftOut: found.list?.leftOut ?? 0)
    }
  }
}

extension ParsedArguments {
  /// The certificates whom a list's signer must chain to, or be.
  func signerAnchors() throws(Failure) -> [Certificate] {
    var certificates: [Certificate] = []
    for path in values(.signerAnchor) {
      for found in try FoundCertificate.inFile(path) {
        guard let certificate = found.certificate else {
          throw .unreadable("certificate \(found.source): \(found.fault)")
        }
        certificates.append(certificate)
      }
    }
    return certificates
  }
}

extension Option {
  static let signerAnchor = Option(
    "signer-anchor", "PEM", "a certificate that the list's signer must chain to, or be", occurrence: .repeatable)
}
