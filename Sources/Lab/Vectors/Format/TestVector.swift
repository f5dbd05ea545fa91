import Mdoc
import Base

/// One case of the corpus: an answer, everything that is needed to judge it, and what the judgement is to be.
///
/// Exactly one thing is wrong with it, or nothing. It is complete by itself but for the trust anchors, which it names.
public struct TestVector: Sendable, Hashable {
  /// The file's name without its ending; the same in every corpus that is made from the same declarations.
  public var id: String
  /// What is wrong, in one sentence.
  public var description: String
  /// The clause that decides it.
  public var reference: String
  /// Rows of the list of negative cases.
  public var cases: [String]
  public var flags: [VectorFlag]
  public var importance: Importance
  /// Optional capabilities without which a verifier cannot run it.
  public var features: [String]
  public var validationTime: Timestamp
  public var session: VectorSession
  /// `documents` and `all_documents`, as the HTTP API takes them.
  public var request: JSON
  /// Names of files in the suite's `anchors` folder. None: nobody is trusted.
  public var trustAnchors: [String]
  public var policy: VectorPolicy
  /// What is to be had from publishers.
  public var publications: [VectorPublication] = []
  /// A list that makes others trusted beside `trustAnchors`.
  public var anchorList: VectorAnchorList?
  public var input: VectorInput
  public var expectation: VectorExpectation

  /// Every file of the `anchors` folder that is needed.
  public var namedAnchors: [String] { trustAnchors + (anchorList?.signers ?? []) }

  public enum Importance: String, Sendable, Hashable, CaseIterable {
    /// Security, or a right answer that everybody must accept.
    case must
    /// Profile rules, warnings, and capabilities that few verifiers have.
    case should
  }
}

/// How strictly the answer is to be judged, where that is not as usual.
public struct VectorPolicy: Sendable, Hashable {
  /// Rejects for what otherwise warns.
  public var isStrict = false
  public var clockSkew = Limits.clockSkew
  /// Whether mock certificates are trusted. All of the corpus are; a live server trusts none of them.
  public var trustsTestCertificates = true
  public var revocation = RevocationPolicy.off
  /// Whether status lists may be JSON Web Tokens.
  public var allowsJWTStatusLists = false

  public init() {}
}

/// What the judgement is to be.
public struct VectorExpectation: Sendable, Hashable {
  public var stage: VectorStage
  /// Exactly the codes of the failed checks, the primary one first; none where the answer is to be accepted.
  public var codes: [String]
  /// Exactly the warnings; nil where the answer is refused, and warnings are not compared.
  public var warnings: [String]?

  public init(stage: VectorStage, codes: [String] = [], warnings: [String]? = nil) {
    self.stage = stage
    self.codes = codes
    self.warnings = warnings
  }

  public var isAccepted: Bool { stage == .accepted }
}
