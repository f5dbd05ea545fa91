import Base
import PKIX
import Trust

/// A published list of trust anchors in a file. Judges it under the signers that are named.
struct ListFile: Sendable {
  enum Format: String, Sendable {
    case vical
    case trustedEntities = "trusted_entities"
  }

  let format: Format
  let bytes: [UInt8]

  /// Nil if the content has the outer form of neither list.
  init?(_ bytes: [UInt8]) {
    // COSE_Sign1 is an array of four, of definite (0x84) or indefinite (0x9f) length. No text begins with either byte.
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

  /// The result of judging the list.
  struct Judgement: Sendable {
    let checks: [Check]
    /// The list's anchors; empty if the list is not accepted.
    let anchors: [TrustAnchor]
    let signerPath: [Certificate]
    let validUntil: Timestamp?
    let isAccepted: Bool
    /// How many entries cannot be used.
    let leftOut: Int

    /// Whether the named signer anchor is the signer's own certificate.
    var isSignedByItsAnchor: Bool { isAccepted && signerPath.count == 1 }

    /// For a list that its own anchor signed: who vouches for the signer, as text for people.
    var ownAnchor: String {
      signerPath.first?.isSelfSigned == true
        ? "the signer itself, whose certificate is self-signed: nobody else vouches for it"
        : "the signer itself: nobody else's word was asked for it"
    }
  }

  /// The settings for the list's anchors, beside what the list says about them.
  struct Use: Sendable {
    var signers: [Certificate] = []
    /// For a list of trusted entities: the document types that each type of service issues.
    var services: [String: [String]] = [:]
    /// The extended key usages of signers; nil for those of each document type.
    var extendedKeyUsages: Set<String>?
    var maxPathLength = 0
    var crlAddresses = CRLAddresses.named
  }

  func judge(_ use: Use, at now: Timestamp) -> Judgement {
    // Test anchors are allowed, since the user names each file.
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
  /// The certificates that a list's signer must chain to or be.
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
