import Base
import Cryptography

/// The reply to a call, with facts for the log and the metrics.
package struct Reply: Sendable {
  package enum Verification: String, Sendable, CaseIterable { case verified, failed, canceled }

  package var status: Int
  /// Empty for a reply without a body.
  package var mediaType: String
  package var content: Content
  package var headers: [(name: String, value: String)] = []
  /// The session that the reply concerns. Redacting the session erases the stored reply.
  package var session: SessionID?
  /// Set only in the first reply after the attempt's end.
  package var verification: Verification?
  /// The code of the refusal, of the failed session, or of the wallet's cancellation.
  package var code: Code?
  package var refusal: ServiceError?
  /// True if this is the stored reply to a retry (`Idempotency-Key`).
  package private(set) var isReplay = false
  /// Seconds of deliberate delay, which do not count as work.
  package var heldSeconds = 0.0
  /// The expiry of the result in the reply.
  var resultExpiresAt: Timestamp?
  /// True if the reply was stored under its Idempotency-Key in the same transaction as its change.
  var isKept = false

  package enum Content: Sendable {
    case json(JSON)
    case bytes([UInt8])
  }

  package init(_ status: Int = 200, json: JSON, session: SessionID? = nil) {
    self.status = status
    mediaType = "application/json"
    content = .json(json)
    self.session = session
  }

  package init(_ mediaType: String, _ bytes: [UInt8], session: SessionID? = nil) {
    status = 200
    self.mediaType = mediaType
    content = .bytes(bytes)
    self.session = session
  }

  package var bytes: [UInt8] {
    switch content {
    case .json(let json): json.serialized()
    case .bytes(let bytes): bytes
    }
  }

  func ending(_ state: SessionState) -> Reply {
    var reply = self
    reply.verification = Verification(rawValue: state.status.rawValue)
    reply.code = state.lastError.flatMap { Code(rawValue: $0.code) }
    return reply
  }

  func replayed() -> Reply {
    var reply = self
    reply.isReplay = true
    reply.headers.append(("Idempotent-Replayed", "true"))
    return reply
  }
}

/// The reason why a call was refused or failed. The HTTP edge converts it to a problem (RFC 9457). Never contains
/// values.
package struct ServiceError: Error, Sendable, Hashable {
  package let code: Code
  /// A description of this case or, by default, the code's remedy.
  package let detail: String
  /// JSON pointers into the request (RFC 6901).
  package let pointers: [PointedDetail]
  package let retryAfter: Int?

  package struct PointedDetail: Sendable, Hashable {
    package let pointer: String
    package let detail: String

    /// A pointer contains the caller's own names, of any length. A long pointer is shortened and ends in `…`.
    package init(pointer: String, detail: String) {
      self.pointer = JSONPointer.shortened(pointer)
      self.detail = detail
    }
  }

  package init(_ code: Code, _ detail: String? = nil, pointers: [PointedDetail] = [], retryAfter: Int? = nil) {
    self.code = code
    self.detail = detail ?? code.entry.remedy
    self.pointers = pointers
    self.retryAfter = retryAfter
  }

  package var httpStatus: Int { code.httpStatus }

  static let sessionNotFound = ServiceError(.sessionNotFound)

  /// Random bytes and ciphers fail only if memory is exhausted.
  static let cryptoFailed = ServiceError(.apiInternal, "The cryptographic library failed.")

  static let keyUnavailable = ServiceError(.apiKeyUnavailable, retryAfter: Limits.tokenRetry)

  /// The error for a failed operation with a relying party's key.
  init(_ error: CryptoError) { self = error == .keyUnavailable ? .keyUnavailable : .cryptoFailed }

  init(_ error: StoreError) {
    switch error {
    case .unavailable, .closed: self.init(.apiStoreUnavailable, retryAfter: 1)
    case .corrupt, .olderSchema, .newerSchema, .otherMode:
      self.init(.apiInternal, "A value in the store cannot be read.")
    }
  }
}

extension Shape {
  /// Reads a body that has no rules beyond its shape.
  /// - Throws: the refusal that lists every fault.
  package func value(of json: JSON, at pointer: String = "") throws(ServiceError) -> Value {
    var faults = Faults()
    guard let value = read(json, pointer, &faults), faults.isEmpty else { throw faults.refusal }
    return value
  }
}

extension Faults {
  /// The refusal that lists every fault, with the code of the first fault.
  var refusal: ServiceError {
    let code = all.first.map { $0.code ?? ($0.isUnknownMember ? .apiUnknownMember : .apiInvalidRequest) }
    return ServiceError(code ?? .apiInvalidRequest, pointers: all.map { .init(pointer: $0.pointer, detail: $0.detail) })
  }
}

extension ServiceError {
  /// The error for one member, identified by its JSON Pointer.
  package static func invalidMember(
    _ pointer: String, _ detail: String, code: Code = .apiInvalidRequest
  ) -> ServiceError {
    ServiceError(code, pointers: [.init(pointer: pointer, detail: detail)])
  }
}

extension JSONPointer {
  static func shortened(_ text: String) -> String {
    let most = Limits.pointerCharacters
    // The byte count is cheap, and is an upper bound for the number of characters.
    guard text.utf8.count > most,
      let end = text.unicodeScalars.index(
        text.startIndex, offsetBy: most, limitedBy: text.endIndex), end < text.endIndex
    else { return text }
    return String(text.unicodeScalars[..<end]) + "…"
  }
}
