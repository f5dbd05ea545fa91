import Base
import Mdoc

/// A rule that a library may leave to its caller. A harness lists the rules for which its library has no option. The
/// runner skips the cases about these rules.
package enum CallerRule: String, Sendable, Hashable, CaseIterable {
  /// A warning rejects.
  case strict
  /// Mock certificates are rejected.
  case testCertificates = "test-certificates"
  /// The policy for the published status of documents and certificates.
  case revocation
  case minimumAge = "minimum-age"
  /// Every requested document is required.
  case allDocuments = "all-documents"
  /// An anchor vouches for some document types, is a document signer, or comes from a signed list.
  case anchors
  /// Comparing a verified response with the request and limiting the response's size. The case is run. It counts as
  /// skipped if the verifier accepts the response.
  case acceptance

  /// The reason for a skipped case.
  var reason: String {
    switch self {
    case .strict: "the caller's rule: strict mode"
    case .testCertificates: "the caller's rule: no mock certificates"
    case .revocation: "the caller's rule: revocation"
    case .minimumAge: "the caller's rule: a minimum age"
    case .allDocuments: "the caller's rule: all documents"
    case .anchors: "the caller's rule: the document types of an anchor"
    case .acceptance: "the caller's rule: comparing with the request"
    }
  }

  /// True if the case's question depends on this rule. The expected verdict has no influence.
  func applies(to vector: TestVector, under anchors: SuiteAnchors) -> Bool {
    let documents = vector.request["documents"]?.array ?? []
    return switch self {
    case .strict: vector.policy.isStrict
    case .testCertificates: !vector.policy.trustsTestCertificates
    case .revocation: vector.policy.revocation != .off
    case .minimumAge: documents.contains { $0["minimum_age"] != nil }
    case .allDocuments: vector.request["all_documents"] == true
    case .anchors:
      vector.anchorList != nil
        || anchors.limitSomething(in: vector, docTypes: documents.compactMap { $0["doc_type"]?.string })
    case .acceptance: false
    }
  }
}

extension VectorExpectation {
  /// True if comparing the verified response with the request reveals every fault.
  var isLeftToAcceptance: Bool { !codes.isEmpty && codes.allSatisfy(Self.ofAcceptance.contains) }

  private static let ofAcceptance = Set(
    [
      Code.elementMissing, .elementTypeInvalid, .ageContradictory, .documentMissing, .documentsMissing,
      .documentUnexpected, .docTypeNotRequested, .zeroKnowledgeUnsupported, .encryptedDocumentsUnsupported,
      .cborInputTooLarge,
    ].map(\.rawValue))
}
