import Base
import Mdoc

/// A status list whose signer, signature, subject and dates were verified (Token Status List, 8.3; ISO/IEC 18013-5,
/// second edition, 12.3.6). It is kept, and answers for every document that names its source.
public struct VerifiedStatusList: Sendable {
  public let facts: VerifiedListFacts
  public let statuses: PackedStatuses

  /// What the list says of the document, at a time that may be long after it was verified.
  public func finding(for reference: StatusReference, at now: Timestamp) -> RevocationFinding {
    guard case .statusList(let index) = reference.place else { return facts.notAsked }
    if let finding = facts.refusal(of: reference, at: now) { return finding }
    guard let status = statuses[index] else {
      return .undetermined(.statusIndexOutOfRange, detail: "the list has \(statuses.count) entries")
    }
    return switch status {
    case Status.valid: .good
    case Status.invalid: .revoked(.documentRevoked)
    case Status.suspended: .revoked(.documentSuspended)
    default: .undetermined(.statusUnknown, detail: "status \(status)")
    }
  }

  /// The statuses that have a meaning everywhere (Token Status List, 7.1).
  private enum Status {
    static let valid: UInt8 = 0
    static let invalid: UInt8 = 1
    static let suspended: UInt8 = 2
  }
}

/// An identifier list that was verified in the same way: it names the documents that are revoked.
public struct VerifiedIdentifierList: Sendable {
  public let facts: VerifiedListFacts
  let identifiers: Set<ArraySlice<UInt8>>

  /// The list's own bytes, into which the identifiers are views.
  let listBytes: Int

  public var count: Int { identifiers.count }

  public func finding(for reference: StatusReference, at now: Timestamp) -> RevocationFinding {
    guard case .identifierList(let identifier) = reference.place else { return facts.notAsked }
    if let finding = facts.refusal(of: reference, at: now) { return finding }
    return identifiers.contains(identifier[...]) ? .revoked(.documentRevoked) : .good
  }
}

extension VerifiedListFacts {
  fileprivate var notAsked: RevocationFinding {
    .undetermined(.statusListInvalid, detail: "the list is of another mechanism")
  }

  /// Why the list cannot answer for this document, if it cannot. That both have one anchor is the caller's to see to,
  /// who finds lists by their source.
  fileprivate func refusal(of reference: StatusReference, at now: Timestamp) -> RevocationFinding? {
    guard source.uri.hasSameBytes(as: reference.uri), source.certificate == reference.certificate else {
      return .undetermined(.statusListInvalid, detail: "the list is of another source")
    }
    return now < expires ? nil : .undetermined(.statusListInvalid, detail: "expired")
  }
}
