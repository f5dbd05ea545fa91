import Base

/// The result for one response: accepted with the requested elements, or rejected with every reason.
public struct Verdict: Sendable {
  public enum Outcome: Sendable {
    case accepted(AcceptedPresentation)
    /// At least one reason, the first failed check first.
    case refused([Reason])
  }

  public let outcome: Outcome
  public let report: VerificationReport
  /// The data of a simulator's response, beside its rejection; nil unless the protocol is set to show such data.
  public internal(set) var simulated: SimulatedPresentation?
  /// The wallet's own, unverified description of an error, sent instead of a response. The description may contain
  /// personal data, so it is not in the report.
  public internal(set) var walletDescription: String?

  /// A rejection for all failed checks of the report.
  public static func refused(_ report: VerificationReport) -> Verdict {
    precondition(!report.reasons.isEmpty, "a rejection has a failed check")
    return Verdict(outcome: .refused(report.reasons), report: report)
  }
}

/// Every check of one attempt with its outcome, in order of execution. It contains no personal data.
public struct VerificationReport: Sendable, Hashable {
  public let verifiedAt: Timestamp
  /// SHA-256 of the trust anchors in force, in hexadecimal.
  public let trustSnapshot: String
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

  /// The failed checks, in order. The first failed check gives the rejection its code.
  public var reasons: [Reason] {
    var reasons = checks.failed.map { Reason(checks[$0]) }
    for (index, document) in documents.enumerated() {
      reasons += document.checks.failed.map { Reason(document.checks[$0], document: index) }
    }
    return reasons
  }
}

extension [Check] {
  /// The indices of failed checks. Most reports have none, so the checks are not copied.
  fileprivate var failed: [Int] { indices.filter { self[$0].outcome == .failed } }
}

/// The checks of one document.
public struct DocumentReport: Sendable, Hashable {
  /// The document type as stated by the document, possibly unverified: at most 256 printable bytes.
  public let docType: String
  public var checks: [Check]

  public init(docType: String, checks: [Check]) {
    self.docType = docType
    self.checks = checks
  }
}

/// Verified documents that satisfy the request, with only the requested elements. Only `AcceptanceRules` makes them.
public struct AcceptedPresentation: Sendable {
  public let documents: [AcceptedDocument]

  /// Whether the response contains unread data that may be personal: an unrequested proof, an encrypted document, a
  /// member of no standard.
  package let leavesUnread: Bool

  /// The retention period for the whole response as received. It is the strictest period of any disclosed element,
  /// requested or not. The response may not be retained if part of it was not read.
  public var retention: Retention { leavesUnread ? .none : .strictest(of: documents.map(\.retention)) }

  /// Whether the presentation contains an element or an age result. It contains neither if the request has no element,
  /// or if the person declines all elements.
  public var disclosesSomething: Bool { documents.contains(where: \.disclosesSomething) }
}

/// One verified document, reduced to the requested data. Personal: it has no mirror and a redacted description.
public struct AcceptedDocument: Sendable, CustomStringConvertible, CustomReflectable {
  /// An element and its verified value.
  public struct Element: Sendable {
    public let reference: ElementReference
    public let value: ElementValue
    /// The requested retention; `none` without a request.
    public let retention: Retention
  }

  /// The index of the requested document that this document satisfies; nil without a request.
  public let requestIndex: Int?
  public let docType: String
  /// The requested issuer-signed elements, in the order of the response.
  public let elements: [Element]
  /// The requested elements that the device signed with the issuer's authorisation. Device-signed elements never
  /// satisfy a request.
  public let deviceSignedElements: [Element]
  public let ageAnswers: [AgeAnswer]
  public let missingElements: [ElementReference]
  /// Returned elements that were not requested. Their values are dropped.
  public let unrequestedElements: [ElementReference]
  /// The strictest retention of all elements that the document discloses, including device-signed elements.
  let retention: Retention
  public let issuer: DocumentIssuer
  /// The validity; nil if a zero-knowledge proof hides it.
  public let validity: DocumentValidity?
  public let deviceAuthentication: DeviceAuthenticationMethod
  public let revocation: RevocationStatus

  var disclosesSomething: Bool { !elements.isEmpty || !deviceSignedElements.isEmpty || !ageAnswers.isEmpty }

  public var description: String { "AcceptedDocument(\(docType), redacted)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Whether the person is at least `threshold` years old, with the element that proves it. Personal: it has no
/// mirror and a redacted description.
public struct AgeAnswer: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  public let threshold: Int
  public let answer: Bool
  public let provedBy: ElementReference

  public var description: String { "AgeAnswer(\(threshold), redacted)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension CheckList {
  /// Records whether a profile rule is met. A violation is a warning, and rejects in strict mode.
  package mutating func expect(
    _ condition: Bool, _ code: Code, _ detail: @autoclosure () -> String? = nil, isStrict: Bool
  ) {
    if isStrict { require(condition, code, detail()) } else { expect(condition, code, detail()) }
  }
}

/// Element names for a check's detail, each with a remark. The list is bounded, since a wallet chooses the names.
func names(_ elements: [ElementReference]) -> String? { names(elements.map { ($0, "") }) }

func names(_ elements: [(ElementReference, String)]) -> String? {
  guard !elements.isEmpty else { return nil }
  let more = elements.count > 8 ? " and \(elements.count - 8) more" : ""
  return elements.prefix(8).map { "\(shown($0.namespace)) \(shown($0.identifier))\($1)" }.joined(separator: ", ") + more
}
