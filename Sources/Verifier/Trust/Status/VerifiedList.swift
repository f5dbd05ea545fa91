import Base
import Compression
import Mdoc
import PKIX

/// A verified status list or identifier list: its signer, signature, subject and dates were checked (Token Status List,
/// 8.3; ISO/IEC 18013-5, second edition, 12.3.6). It serves every document that refers to its source.
public struct VerifiedList: Sendable {
  public let source: StatusListSource
  public let signer: Certificate
  public let issuedAt: Timestamp
  /// The first instant at which the list is no longer valid: its own expiry, or the end of its signer's certificates.
  public let expires: Timestamp
  /// Seconds after which the publisher wants the list to be fetched again. The list remains valid until it expires.
  public let timeToLive: Int64?
  public let deviations: Set<StatusListDeviation>
  let entries: Entries

  enum Entries: Sendable {
    case statuses(PackedStatuses)
    /// The identifiers of the revoked documents. They are views into the list's bytes, because there may be very many.
    case identifiers(Set<ArraySlice<UInt8>>, listBytes: Int)
  }

  /// The approximate memory of the list, in bytes.
  public var keptBytes: Int {
    switch entries {
    case .statuses(let statuses): statuses.keptBytes
    case .identifiers(let identifiers, let listBytes):
      listBytes + 2 * identifiers.count * MemoryLayout<ArraySlice<UInt8>>.stride
    }
  }

  /// The time until which a fetched list is fresh. Its time to live is limited, and never extends beyond its expiry.
  public func freshUntil(fetchedAt: Timestamp) -> Timestamp {
    let wanted = timeToLive.map { fetchedAt + $0 } ?? expires
    let bounded = min(max(wanted, fetchedAt + Limits.shortestListLifetime), fetchedAt + Limits.longestListLifetime)
    return min(bounded, expires)
  }

  /// The list's finding for the document with this reference. The list may have been verified much earlier.
  public func finding(for reference: StatusReference, at now: Timestamp) -> RevocationFinding {
    switch (entries, reference.entry) {
    case (.statuses(let statuses), .statusList(let index)):
      refusal(of: reference, at: now) ?? Self.finding(in: statuses, at: index, reference.uri)
    case (.identifiers(let identifiers, _), .identifierList(let identifier)):
      refusal(of: reference, at: now) ?? Self.finding(in: identifiers, identifier, reference.uri)
    default:
      .undetermined(
        .statusListInvalid,
        detail: "the document refers to a status list, but this is an identifier list, or the reverse")
    }
  }

  /// The reason why the list does not count for this document; nil if it counts. A list is looked up by its source,
  /// which includes the anchor.
  private func refusal(of reference: StatusReference, at now: Timestamp) -> RevocationFinding? {
    guard source.uri.hasSameBytes(as: reference.uri), source.certificate == reference.certificate else {
      return .undetermined(
        .statusListInvalid, detail: "the list's address or certificate is not the one that the document names")
    }
    return now < expires ? nil : .undetermined(.statusListInvalid, detail: "expired")
  }

  /// The statuses 0 to 2 have a standard meaning (Token Status List, 7.1). No detail contains the index, which
  /// identifies the document.
  private static func finding(in statuses: PackedStatuses, at index: UInt64, _ uri: String) -> RevocationFinding {
    switch statuses[index] {
    case nil:
      .undetermined(.statusIndexOutOfRange, detail: "idx is outside the list, which has \(statuses.count) entries")
    case 0?: .good
    case 1?: .revoked(.documentRevoked, detail: "\(shown(uri, limit: 256)) has 1 (revoked) for the document")
    case 2?: .revoked(.documentSuspended, detail: "\(shown(uri, limit: 256)) has 2 (suspended) for the document")
    case let status?:
      .undetermined(
        .statusUnknown,
        detail: "\(shown(uri, limit: 256)) has \(status) for the document, a status without a standard meaning")
    }
  }

  private static func finding(
    in identifiers: Set<ArraySlice<UInt8>>, _ identifier: [UInt8], _ uri: String
  ) -> RevocationFinding {
    guard identifiers.contains(identifier[...]) else { return .good }
    return .revoked(.documentRevoked, detail: "\(shown(uri, limit: 256)) lists the document's identifier")
  }
}

/// A tolerated deviation from the standard.
public enum StatusListDeviation: String, Sendable, Hashable, CaseIterable {
  /// The signer's only extended key usage is a document signer's.
  case documentSignerUsage = "document_signer_usage"
}

/// The unpacked entries of a status list. Each has `bits` bits, and the first is in the lowest bits of a byte (Token
/// Status List, 4.1).
public struct PackedStatuses: Sendable, Hashable {
  public let bits: Int
  private let bytes: [UInt8]

  /// - Parameter list: a zlib stream.
  package init(bits: Int64?, list: some Collection<UInt8>) throws(RevocationListError) {
    guard let bits, [1, 2, 4, 8].contains(bits) else { throw .invalid("bits is not 1, 2, 4 or 8") }
    self.bits = Int(bits)
    do throws(CompressionError) {
      bytes = try Inflation.inflate(list, limit: Limits.unpackedListBytes)
    } catch {
      if error == .tooLarge { throw RevocationListError(.listTooLarge, "more than \(Limits.unpackedListBytes) bytes") }
      throw .invalid("lst cannot be inflated: \(error.detail)")
    }
  }

  /// Bytes of memory.
  public var keptBytes: Int { bytes.count }

  public var count: Int { bytes.count * (8 / bits) }

  /// The status at an index; nil outside the list.
  public subscript(index: UInt64) -> UInt8? {
    guard let index = Int(exactly: index), index < count else { return nil }
    let perByte = 8 / bits
    let mask = UInt8(truncatingIfNeeded: (1 << bits) - 1)
    return bytes[index / perByte] >> UInt8(index % perByte * bits) & mask
  }
}
