import Base
import PKIX
import Trust

/// A published list of trust anchors in a file. It can be verified with given signers.
struct ListFile: Sendable {
  enum Format: String, Sendable {
    case vical
    case trustedEntities = "trusted_entities"
  }

  let format: Format
  let bytes: [UInt8]

  /// Nil if the content has the outer form of neither a VICAL nor a list of trusted entities.
  init?(_ bytes: [UInt8]) {
    // COSE_Sign1 is an array of four items, of definite (0x84) or indefinite (0x9f) length. No UTF-8 text begins with
    // either byte.
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

  /// The result of verifying the list.
  struct Judgement: Sendable {
    let checks: [Check]
    /// The list's anchors; empty if the list is not accepted.
    let anchors: [TrustAnchor]
    let signerPath: [Certificate]
    let validUntil: Timestamp?
    let isAccepted: Bool
    /// The number of unusable entries.
    let leftOut: Int

    /// True if the given signer anchor is the signer's own certificate.
    var isSignedByItsAnchor: Bool { isAccepted && signerPath.count == 1 }

    /// The display text for the list's anchor, if the anchor itself signed the list.
    var ownAnchor: String {
      signerPath.first?.isSelfSigned == true
        ? "the signer's own, self-signed certificate; no authority confirms it"
        : "the signer's own certificate; no authority confirms it"
    }
  }

  /// The settings for the list's anchors, in addition to the list's own.
  struct Use: Sendable {
    var signers: [Certificate] = []
    /// The document types that each type of service issues, for a list of trusted entities.
    var services: [String: [String]] = [:]
    /// The extended key usages of signers; nil for the defaults of each document type.
    var extendedKeyUsages: Set<String>?
    var maxPathLength = 0
    var crlAddresses = CRLAddresses.named
  }

  func judge(_ use: Use, at now: Timestamp) -> Judgement {
    // Test anchors are allowed, since the user lists each file.
    let signers = SignerPath.Anchors(configured: use.signers, allowsTestCertificates: true)
    let source = TrustListSource(
      signers: signers, extendedKeyUsages: use.extendedKeyUsages, maxPathLength: use.maxPathLength,
      crlAddresses: .init(use.crlAddresses))
    func judgement<List>(_ found: TrustListEvaluation<List>) -> Judgement {
      Judgement(
        checks: found.checks, anchors: found.anchors, signerPath: found.signerPath, validUntil: found.validUntil,
        isAccepted: found.isAccepted, leftOut: found.leftOut)
    }
    switch format {
    case .vical: return judgement(VICALVerifier(source: source).evaluate(bytes, at: now))
    case .trustedEntities:
      let entities = TrustedEntityListSource(source, issuance: use.services)
      return judgement(TrustedEntityListVerifier(source: entities).evaluate(bytes, at: now))
    }
  }
}

extension Option {
  static let signerAnchor = Option(
    "signer-anchor", "PEM", "the list's signer, or an authority that its certificate chains to",
    occurrence: .repeatable)
}
