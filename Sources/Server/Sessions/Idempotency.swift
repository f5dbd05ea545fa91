import Base
import Cryptography

extension VerificationService {
  /// Runs a POST once for its Idempotency-Key (HTTP API, Idempotency). Callers with a client secret need no such key:
  /// they act on one session, which accepts one response.
  /// - Parameter isSubmit: true if the request submits a response. The quota of stored replies never refuses a
  ///   response. While that quota is exhausted, refusals of the response are not stored.
  func execute(
    _ request: IdempotencyRequest?, _ caller: Caller, isSubmit: Bool = false,
    _ operation: (IdempotencyClaim?) async throws(ServiceError) -> Reply
  ) async throws(ServiceError) -> Reply {
    guard let request, case .apiKey(let party, _, _) = caller else { return try await operation(nil) }
    let claim = try IdempotencyClaim(request, of: party.id)
    let isFull = await excess(of: party, forSession: false) != nil
    if isFull, !isSubmit { try await checkQuota(of: party, forSession: false) }
    let start = try await stored { store throws(StoreError) in try await store.beginIdempotent(claim, at: clock()) }
    switch start {
    case .inProgress: throw ServiceError(.apiIdempotencyInProgress, retryAfter: 1)
    case .bodyDiffers: throw ServiceError(.apiIdempotencyKeyReused)
    case .finished(let kept): return try replay(kept, claim, to: caller)
    case .started: break
    }
    let reply: Reply
    do throws(ServiceError) {
      reply = try await operation(claim)
    } catch {
      await keep(error, claim, isWanted: !isFull)
      throw error
    }
    // The work is already done. If its reply cannot be kept, the claim expires.
    if !reply.isKept, let completion = try? completion(claim, reply) { try? await store.finishIdempotent(completion) }
    return reply
  }

  /// Stores a refusal as the reply, unless it is temporary. A failure (5xx) and an exhausted quota are temporary.
  private func keep(_ error: ServiceError, _ claim: IdempotencyClaim, isWanted: Bool) async {
    do {
      guard isWanted, error.httpStatus < 500, error.code != .apiQuotaExceeded else {
        return try await store.releaseIdempotent(claim)
      }
      let body = try seal(StoredReplyForm.encode(error), .reply(claim, nil))
      noteReply(body, of: claim)
      try await store.finishIdempotent(
        IdempotencyCompletion(claim: claim, reply: StoredReply(session: nil, body: body)))
    } catch {
      // Nothing is kept: the claim expires, and a retry runs the work again.
    }
  }

  /// Seals the reply. Seals its result separately, because the result expires earlier. Leaves out a simulated result,
  /// which is shown only once.
  func completion(_ claim: IdempotencyClaim?, _ reply: Reply) throws(ServiceError) -> IdempotencyCompletion? {
    guard let claim, case .json(let body) = reply.content else { return nil }
    let result = body["result"].flatMap { $0.isNull ? nil : $0 }
    let shown = body.removing("simulated_result")
    let form = try seal(
      StoredReplyForm.encode(
        status: reply.status, body: result == nil ? shown : shown.replacing("result", with: .null)),
      .reply(claim, reply.session))
    noteReply(form, of: claim)
    return IdempotencyCompletion(
      claim: claim,
      reply: StoredReply(
        session: reply.session, body: form,
        result: try result.map { json throws(ServiceError) in try seal(json, .replyResult(claim, reply.session)) },
        resultExpiresAt: result == nil ? nil : reply.resultExpiresAt))
  }

  private func noteReply(_ body: [UInt8], of claim: IdempotencyClaim) {
    estimates.note(StoreUsage(idempotencyBytes: Int64(body.count) + StoreUsage.replyOverhead), of: claim.relyingParty)
  }

  /// The stored reply. If the reply's result has expired, or the caller may not read it, the result is left out. Throws
  /// once the session is redacted.
  private func replay(_ kept: StoredReply, _ claim: IdempotencyClaim, to caller: Caller) throws(ServiceError) -> Reply {
    guard let sealed = kept.body else { throw ServiceError(.sessionRedacted) }
    let form = try openJSON(sealed, .reply(claim, kept.session))
    var (status, body) = try StoredReplyForm.decode(form)
    if let result = kept.result, let end = kept.resultExpiresAt, clock() < end, caller.has(.resultsRead) {
      body = body.replacing("result", with: try openJSON(result, .replyResult(claim, kept.session)))
    }
    return Reply(status, json: body, session: kept.session).replayed()
  }
}

extension JSON {
  func replacing(_ name: String, with value: JSON) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members.map { $0.name == name ? Member(name, value) : $0 })
  }

  func removing(_ name: String) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { $0.name != name })
  }
}

package struct IdempotencyRequest: Sendable {
  package let key: String
  package let method: String
  package let path: String
  package let body: [UInt8]

  package init(key: String, method: String, path: String, body: [UInt8]) {
    self.key = key
    self.method = method
    self.path = path
    self.body = body
  }
}

package struct IdempotencyClaim: Sendable, Hashable {
  /// Seconds after which an unfinished claim counts as abandoned: longer than any request runs.
  package static let lease: Int64 = 60

  /// The SHA-256 of relying party, method, path and key: one short index instead of four long columns.
  package let scope: [UInt8]
  package let bodyHash: [UInt8]
  /// Distinguishes this claim from a later claim that replaces it.
  package let token: [UInt8]
  /// The owner of the quota.
  package let relyingParty: String
}

extension IdempotencyClaim {
  package init(_ request: IdempotencyRequest, of relyingParty: String) throws(ServiceError) {
    guard (1...255).contains(request.key.count) else {
      throw ServiceError(.apiInvalidRequest, "The Idempotency-Key must have 1 to 255 characters.")
    }
    var scope: [UInt8] = []
    for part in [relyingParty, request.method, request.path, request.key] {
      // Lengths precede the parts, so that the hashed text is unambiguous.
      scope += Array("\(part.utf8.count):".utf8) + Array(part.utf8)
    }
    let token: [UInt8]
    do { token = try Random.bytes(16) } catch { throw .cryptoFailed }
    self.init(
      scope: HashAlgorithm.sha256.hash(scope), bodyHash: HashAlgorithm.sha256.hash(request.body), token: token,
      relyingParty: relyingParty)
  }
}

package enum IdempotencyStart: Sendable {
  case started
  case inProgress
  case bodyDiffers
  case finished(StoredReply)
}

/// A sealed reply, kept for 24 hours. The result is stored separately until it expires.
package struct StoredReply: Sendable, Hashable {
  /// The session whose redaction erases the reply.
  package let session: SessionID?
  /// Nil once the session is redacted.
  package var body: [UInt8]?
  package var result: [UInt8]?
  package var resultExpiresAt: Timestamp?

  package init(session: SessionID?, body: [UInt8]?, result: [UInt8]? = nil, resultExpiresAt: Timestamp? = nil) {
    self.session = session
    self.body = body
    self.result = result
    self.resultExpiresAt = resultExpiresAt
  }
}

package struct IdempotencyCompletion: Sendable {
  package let claim: IdempotencyClaim
  package let reply: StoredReply
}

/// The plaintext of a stored reply: a status and a body, or a refusal's code and details.
enum StoredReplyForm {
  static func encode(status: Int, body: JSON) -> JSON { ["status": .integer(Int64(status)), "body": body] }

  static func encode(_ error: ServiceError) -> JSON {
    [
      "code": .string(error.code.rawValue), "detail": .string(error.detail),
      "pointers": .array(error.pointers.map { [.string($0.pointer), .string($0.detail)] }),
    ]
  }

  /// Returns the stored reply, or throws the stored refusal.
  static func decode(_ form: JSON) throws(ServiceError) -> (status: Int, body: JSON) {
    if let status = form["status"]?.integer, let body = form["body"] { return (Int(status), body) }
    guard let code = form["code"]?.string.flatMap(Code.init(rawValue:)) else {
      throw ServiceError(.apiInternal, "A stored reply cannot be read.")
    }
    throw ServiceError(
      code, form["detail"]?.string,
      pointers: (form["pointers"]?.array ?? []).compactMap { pair in
        guard let pointer = pair.array?.first?.string, let detail = pair.array?.last?.string else { return nil }
        return ServiceError.PointedDetail(pointer: pointer, detail: detail)
      })
  }
}
