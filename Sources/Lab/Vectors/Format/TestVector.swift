import Base
import Mdoc

/// One case of the corpus: an answer, everything that is needed to judge it, and what the judgement is to be.
///
/// Exactly one thing is wrong with it, or nothing. It is complete by itself but for the trust anchors, which it names.
package struct TestVector: Sendable, Hashable {
  /// The file's name without its ending; the same in every corpus that is made from the same declarations.
  package var id: String
  /// What is wrong, in one sentence.
  package var description: String
  /// The clause that decides it.
  package var reference: String
  /// Rows of the list of negative cases.
  package var cases: [String]
  package var flags: [VectorFlag]
  package var importance: Importance
  /// Optional capabilities without which a verifier cannot run it.
  package var features: [String]
  package var validationTime: Timestamp
  package var session: VectorSession
  /// `documents` and `all_documents`, as the HTTP API takes them.
  package var request: JSON
  /// Names of files in the suite's `anchors` folder. None: nobody is trusted.
  package var trustAnchors: [String]
  package var policy: VectorPolicy
  /// What is to be had from publishers.
  package var publications: [VectorPublication] = []
  /// A list that makes others trusted beside `trustAnchors`.
  package var anchorList: VectorAnchorList?
  package var input: VectorInput
  package var expectation: VectorExpectation

  /// Every file of the `anchors` folder that is needed.
  package var namedAnchors: [String] { trustAnchors + (anchorList?.signers ?? []) }

  package enum Importance: String, Sendable, Hashable, CaseIterable {
    /// Security, or a right answer that everybody must accept.
    case must
    /// Profile rules, warnings, and capabilities that few verifiers have.
    case should
  }
}

/// How strictly the answer is to be judged, where that is not as usual.
package struct VectorPolicy: Sendable, Hashable {
  /// Rejects for what otherwise warns.
  package var isStrict = false
  package var clockSkew = Limits.clockSkew
  /// Whether mock certificates are trusted. All of the corpus are; a live server trusts none of them.
  package var trustsTestCertificates = true
  package var revocation = RevocationPolicy.off
  /// Whether status lists may be JSON Web Tokens.
  package var allowsJWTStatusLists = false

  package init() {}
}

/// What the judgement is to be.
package struct VectorExpectation: Sendable, Hashable {
  package var stage: VectorStage
  /// Exactly the codes of the failed checks, the primary one first; none where the answer is to be accepted.
  package var codes: [String]
  /// Exactly the warnings; nil where the answer is refused, and warnings are not compared.
  package var warnings: [String]?

  package init(stage: VectorStage, codes: [String] = [], warnings: [String]? = nil) {
    self.stage = stage
    self.codes = codes
    self.warnings = warnings
  }

  package var isAccepted: Bool { stage == .accepted }
}
