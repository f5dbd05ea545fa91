import Base
import Compression
import Mdoc
import PKIX

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

/// What is known of a list that was verified: how long it counts, and what about it was not as it should be.
public struct VerifiedListFacts: Sendable {
  public let source: StatusListSource
  public let signer: Certificate
  public let issuedAt: Timestamp
  /// The first instant at which the list no longer counts: its own expiry, or the end of its signer's certificates.
  public let expires: Timestamp
  /// Seconds after which the publisher wants the list to be fetched anew; it counts until it expires all the same.
  public let timeToLive: Int64?
  public let deviations: Set<StatusListDeviation>

  /// Until when a list fetched at this time is to be taken from the cache: for its time to live, or until it expires,
  /// but for at least and at most what the limits say, and never beyond its expiry.
  public func freshUntil(fetchedAt: Timestamp) -> Timestamp {
    let wanted = timeToLive.map { fetchedAt + $0 } ?? expires
    let bounded = min(max(wanted, fetchedAt + Limits.shortestListLifetime), fetchedAt + Limits.longestListLifetime)
    return min(bounded, expires)
  }
}

/// What deviates from the standard in a list that is used all the same.
public enum StatusListDeviation: String, Sendable, Hashable, CaseIterable {
  /// The signer's certificate is a document signer's: its extended key usage names only that.
  case documentSignerUsage = "document_signer_usage"
}

/// The unpacked entries of a status list, `bits` a piece, the first in the lowest bits (Token Status List, 4.1).
public struct PackedStatuses: Sendable, Hashable {
  public let bits: Int
  private let bytes: [UInt8]

  /// - Parameter list: a zlib stream.
  package init(bits: Int64?, list: some Collection<UInt8>) throws(StatusListError) {
    guard let bits, [1, 2, 4, 8].contains(bits) else { throw .invalid("bits is not 1, 2, 4 or 8") }
    self.bits = Int(bits)
    do throws(CompressionError) {
      bytes = try Inflation.inflate(list, limit: Limits.unpackedListBytes)
    } catch {
      if error == .tooLarge { throw StatusListError(.listTooLarge, "more than \(Limits.unpackedListBytes) bytes") }
      throw .invalid("lst is no zlib stream: \(error)")
    }
  }

  /// Bytes of memory.
  public var keptBytes: Int { bytes.count }

  public var count: Int { bytes.count * (8 / bits) }

  /// Nil outside the list.
  public subscript(index: UInt64) -> UInt8? {
    guard let index = Int(exactly: index), index < count else { return nil }
    let perByte = 8 / bits
    let mask = UInt8(truncatingIfNeeded: (1 << bits) - 1)
    return bytes[index / perByte] >> UInt8(index % perByte * bits) & mask
  }
}
