import Base

/// Every check of one attempt with its outcome, in the order in which they are made. It holds nothing personal.
public struct VerificationReport: Sendable, Hashable {
  public let verifiedAt: Timestamp
  /// SHA-256 of the trust anchors in force, in hexadecimal.
  public let trustSnapshot: String
  /// What had to be known about revocation.
  public let revocationPolicy: RevocationPolicy
  /// Checks of the envelope and of the response as a whole.
  public var checks: [Check]
  public var documents: [DocumentReport]

  public init(
    verifiedAt: Timestamp, trustSnapshot: String, revocationPolicy: RevocationPolicy = .off, checks: [Check],
    documents: [DocumentReport] = []
  ) {
    self.verifiedAt = verifiedAt
    self.trustSnapshot = trustSnapshot
    self.revocationPolicy = revocationPolicy
    self.checks = checks
    self.documents = documents
  }

  /// The failed checks, in order: the first of them names the refusal.
  public var reasons: [Reason] {
    checks.filter { $0.outcome == .failed }.map { Reason($0) }
      + documents.enumerated().flatMap { index, document in
        document.checks.filter { $0.outcome == .failed }.map { Reason($0, document: index) }
      }
  }
}

public struct DocumentReport: Sendable, Hashable {
  /// The document type as the document gives it, possibly unverified. It is cut to 256 bytes that can be shown.
  public let docType: String
  public var checks: [Check]

  public init(docType: String, checks: [Check]) {
    self.docType = docType
    self.checks = checks
  }
}

extension CheckList {
  /// Notes whether a profile rule is kept. A broken rule warns, and rejects in strict mode.
  package mutating func expect(
    _ condition: Bool, _ code: Code, _ detail: @autoclosure () -> String? = nil, isStrict: Bool
  ) {
    if isStrict { require(condition, code, detail()) } else { expect(condition, code, detail()) }
  }
}

/// The result for one answer: accepted with the requested elements, or refused with every reason.
public struct Verdict: Sendable {
  public enum Outcome: Sendable {
    case accepted(AcceptedPresentation)
    /// At least one reason, the first failed check first.
    case refused([Reason])
  }

  public let outcome: Outcome
  public let report: VerificationReport
  /// The data of a simulator's answer, beside its refusal; nil unless the protocol was told to show them.
  public internal(set) var simulated: SimulatedPresentation?
  /// The wallet's own, unverified words about an error that it sent in place of an answer. They may be personal, so the
  /// report does not have them.
  public internal(set) var walletDescription: String?

  /// A refusal for all failed checks of the report.
  public static func refused(_ report: VerificationReport) -> Verdict {
    precondition(!report.reasons.isEmpty, "a refusal has a failed check")
    return Verdict(outcome: .refused(report.reasons), report: report)
  }
}

/// Element names for a check's detail, each with a remark: bounded, because a wallet chooses them.
func names(_ elements: [ElementReference], _ remark: (ElementReference) -> String? = { _ in nil }) -> String? {
  names(elements.map { ($0, remark($0) ?? "") })
}

func names(_ elements: [(ElementReference, String)]) -> String? {
  guard !elements.isEmpty else { return nil }
  let shownElements = elements.prefix(8).map { "\(shown($0.namespace)) \(shown($0.identifier))\($1)" }
  return shownElements.joined(separator: ", ")
    + (elements.count > shownElements.count ? " and \(elements.count - shownElements.count) more" : "")
}
