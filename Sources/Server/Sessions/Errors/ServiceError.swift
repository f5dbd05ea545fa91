import Base

/// Why a call was refused or failed: what the HTTP edge turns into a problem (RFC 9457) with the status of the code's
/// registry entry. It carries names and rules, never values.
package struct ServiceError: Error, Sendable, Hashable {
  package let code: Code
  /// For people: what is special about this case, or else what to do.
  package let detail: String
  /// Where in the request, by JSON pointer (RFC 6901).
  package let pointers: [PointedDetail]
  /// Seconds after which the same call may succeed.
  package let retryAfter: Int?

  package struct PointedDetail: Sendable, Hashable {
    package let pointer: String
    package let detail: String

    /// A pointer has names of the caller's, of any length: one that is too long ends in `…`.
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

  /// Only random bytes or a cipher that fail where exhausted memory alone can make them.
  static let cryptoFailed = ServiceError(.apiInternal, "The cryptographic library failed.")

  init(_ error: StoreError) {
    switch error {
    case .unavailable, .closed: self.init(.apiStoreUnavailable, retryAfter: 1)
    case .corrupt, .olderSchema, .newerSchema, .otherMode:
      self.init(.apiInternal, "The store holds something that cannot be read.")
    }
  }
}

/// What a use case answers, ready for the wire.
package struct Reply: Sendable {
  /// 200 or 201.
  package let status: Int
  package let text: JSONText
  /// Whose session it shows, where it shows one.
  package let session: SessionID?
  /// What came of the attempt, where it tells of one that ended.
  package let ending: Ending?
  /// Whether it was kept under an Idempotency-Key and is given again.
  package let isReplay: Bool

  /// How an attempt ended; with the code, where it failed or the wallet canceled it.
  package struct Ending: Sendable {
    package let status: SessionStatus
    package let code: Code?

    init(_ state: SessionState) {
      status = state.status
      code = state.lastError.flatMap { Code(rawValue: $0.code) }
    }
  }

  init(_ status: Int, _ body: JSON, session: SessionID? = nil, ending: Ending? = nil, isReplay: Bool = false) {
    self.status = status
    text = JSONText(body)
    self.session = session
    self.ending = ending
    self.isReplay = isReplay
  }
}
