import Base
import Cryptography

extension ServiceContext {
  /// Runs a POST once for its Idempotency-Key: the same request again gets the same reply, another body is refused,
  /// one that still runs is told so, and nothing is kept of a 5xx (HTTP API, Idempotency).
  ///
  /// Client secrets have no idempotency: they act on one session, which takes one answer.
  ///
  /// - Parameter isSubmit: whether the request hands in an answer, which the quota of kept replies never refuses. While
  ///   that quota is used up, refusals of the answer are not kept.
  func execute(
    _ request: IdempotencyRequest?, _ caller: Caller, isSubmit: Bool = false,
    _ operation: (IdempotencyClaim?) async throws(ServiceError) -> OperationReply
  ) async throws(ServiceError) -> Reply {
    guard let request, case .apiKey(let party, _, _) = caller else { return try await operation(nil).reply }
    let claim = try IdempotencyClaim(request, of: party.id)
    let isFull = await excess(of: party, forSession: false) != nil
    if isFull, !isSubmit { try await checkQuota(of: party, forSession: false) }
    let start: IdempotencyStart
    do { start = try await store.beginIdempotent(claim, at: clock()) } catch { throw ServiceError(error) }
    switch start {
    case .inProgress: throw ServiceError(.apiIdempotencyInProgress, retryAfter: 1)
    case .bodyDiffers: throw ServiceError(.apiIdempotencyKeyReused)
    case .finished(let kept): return try replay(kept, claim, to: caller)
    case .started: return try await run(operation, claim, keepsRefusals: !isFull)
    }
  }

  private func run(
    _ operation: (IdempotencyClaim?) async throws(ServiceError) -> OperationReply, _ claim: IdempotencyClaim,
    keepsRefusals: Bool
  ) async throws(ServiceError) -> Reply {
    let outcome: OperationReply
    do throws(ServiceError) {
      outcome = try await operation(claim)
    } catch {
      await keep(error, claim, isWanted: keepsRefusals)
      throw error
    }
    // The work is done, even if its reply cannot be kept. In that case the claim lapses by itself.
    if !outcome.isKept, let completion = try? completion(claim, outcome) {
      try? await store.finishIdempotent(completion)
    }
    return outcome.reply
  }

  /// Keeps a refusal as the reply, unless it may pass by itself: a failure (5xx), or a quota that is used up.
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
      // Nothing is kept: the claim lapses, and the same request is tried again.
    }
  }

  /// The reply sealed for keeping; its result apart, since it is kept for a shorter time, and without what a simulator
  /// answered, which is shown once, to whom it was shown.
  func completion(
    _ claim: IdempotencyClaim?, _ outcome: OperationReply
  ) throws(ServiceError) -> IdempotencyCompletion? {
    guard let claim else { return nil }
    let result = outcome.body["result"].flatMap { $0.isNull ? nil : $0 }
    let shown = outcome.body.removing("simulated_result")
    let body = result == nil ? shown : shown.replacing("result", with: .null)
    let form = try seal(
      StoredReplyForm.encode(status: outcome.status, body: body), .reply(claim, outcome.session))
    noteReply(form, of: claim)
    return IdempotencyCompletion(
      claim: claim,
      reply: StoredReply(
        session: outcome.session, body: form,
        result: try result.map { json throws(ServiceError) in try seal(json, .replyResult(claim, outcome.session)) },
        resultExpiresAt: result == nil ? nil : outcome.resultExpiresAt))
  }

  private func noteReply(_ body: [UInt8], of claim: IdempotencyClaim) {
    usage.note(StoreUsage(idempotencyBytes: Int64(body.count) + StoreUsage.replyOverhead), of: claim.relyingParty)
  }

  /// The kept reply: without its result once that has expired, and to a key that may not read results; an error once
  /// its session is redacted.
  private func replay(_ kept: StoredReply, _ claim: IdempotencyClaim, to caller: Caller) throws(ServiceError) -> Reply {
    guard let sealed = kept.body else { throw ServiceError(.sessionRedacted) }
    let form = try openJSON(sealed, .reply(claim, kept.session))
    var (status, body) = try StoredReplyForm.decode(form)
    if let result = kept.result, let end = kept.resultExpiresAt, clock() < end, caller.has(.resultsRead) {
      body = body.replacing("result", with: try openJSON(result, .replyResult(claim, kept.session)))
    }
    return Reply(status, body, session: kept.session, isReplay: true)
  }
}

/// A use case's reply, with what keeping it needs to know.
struct OperationReply: Sendable {
  let status: Int
  let body: JSON
  /// Whose redaction erases the kept reply.
  var session: SessionID?
  /// Of an attempt that came to its end.
  var ending: Reply.Ending?
  /// Until when a result in the reply may be given again.
  var resultExpiresAt: Timestamp?
  /// Whether it was kept in the operation's own transaction.
  var isKept = false

  var reply: Reply { Reply(status, body, session: session, ending: ending) }
}

extension JSON {
  /// The object with one member's value exchanged in its place.
  func replacing(_ name: String, with value: JSON) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members.map { $0.name == name ? Member(name, value) : $0 })
  }

  /// The object without one member.
  func removing(_ name: String) -> JSON {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { $0.name != name })
  }
}

/// An `Idempotency-Key` header with the request that it came with.
package struct IdempotencyRequest: Sendable {
  package let key: String
  package let method: String
  package let path: String
  /// The body as received.
  package let body: [UInt8]

  package init(key: String, method: String, path: String, body: [UInt8]) {
    self.key = key
    self.method = method
    self.path = path
    self.body = body
  }
}

/// A claim on a key, scoped to relying party, method and path.
package struct IdempotencyClaim: Sendable, Hashable {
  /// Seconds after which an unfinished claim is taken for abandoned: longer than any request runs.
  package static let lease: Int64 = 60

  /// SHA-256 over relying party, method, path and key: one short index instead of four long columns.
  package let scope: [UInt8]
  /// SHA-256 of the body.
  package let bodyHash: [UInt8]
  /// Tells this claim from one that took it over.
  package let token: [UInt8]
  /// Whose quota the kept reply counts for.
  package let relyingParty: String

  package init(scope: [UInt8], bodyHash: [UInt8], token: [UInt8], relyingParty: String) {
    self.scope = scope
    self.bodyHash = bodyHash
    self.token = token
    self.relyingParty = relyingParty
  }

  package init(_ request: IdempotencyRequest, of relyingParty: String) throws(ServiceError) {
    guard (1...255).contains(request.key.count) else {
      throw ServiceError(.apiInvalidRequest, "An Idempotency-Key has 1 to 255 characters.")
    }
    var scope: [UInt8] = []
    for part in [relyingParty, request.method, request.path, request.key] {
      // Each part with its length, so that no two requests have the same text.
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
  /// The key was used with another body.
  case bodyDiffers
  case finished(StoredReply)
}

/// A reply that is kept for 24 hours, sealed; its result, apart, only as long as the result may be read.
package struct StoredReply: Sendable, Hashable {
  /// Whose redaction erases the reply.
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

  package init(claim: IdempotencyClaim, reply: StoredReply) {
    self.claim = claim
    self.reply = reply
  }
}

/// How a reply is written before it is sealed: a status with a body, or a refusal with its code.
enum StoredReplyForm {
  static func encode(status: Int, body: JSON) -> JSON { ["status": .integer(Int64(status)), "body": body] }

  static func encode(_ error: ServiceError) -> JSON {
    [
      "code": .string(error.code.rawValue), "detail": .string(error.detail),
      "pointers": .array(error.pointers.map { [.string($0.pointer), .string($0.detail)] }),
    ]
  }

  /// The reply, or the refusal thrown once more.
  static func decode(_ form: JSON) throws(ServiceError) -> (status: Int, body: JSON) {
    if let status = form["status"]?.integer, let body = form["body"] { return (Int(status), body) }
    guard let code = form["code"]?.string.flatMap(Code.init(rawValue:)) else {
      throw ServiceError(.apiInternal, "A kept reply cannot be read.")
    }
    throw ServiceError(
      code, form["detail"]?.string,
      pointers: (form["pointers"]?.array ?? []).compactMap { pair in
        guard let pointer = pair.array?.first?.string, let detail = pair.array?.last?.string else { return nil }
        return ServiceError.PointedDetail(pointer: pointer, detail: detail)
      })
  }
}
