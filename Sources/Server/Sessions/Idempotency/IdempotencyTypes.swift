import Base
import Cryptography

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
