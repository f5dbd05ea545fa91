import Base
import Sessions

/// A reply before it is put on the wire, with what the log and the metrics say about it.
package struct Answer: Sendable {
  var status: Int
  var mediaType: String
  var body: [UInt8]
  package var headers: [(name: String, value: String)] = []
  /// The session it is about, for the log.
  package var session: String?
  /// The code of the problem, or of the session that failed or that the wallet canceled.
  var code: Code?
  /// Set once for each attempt that came to an end.
  var verification: Verification?

  enum Verification: String, Sendable, CaseIterable { case verified, failed, canceled }

  package init(status: Int, mediaType: String = "application/json", body: [UInt8]) {
    self.status = status
    self.mediaType = mediaType
    self.body = body
  }

  package init(_ status: Int = 200, json: JSON) { self.init(status: status, body: json.serialized()) }

  init(_ reply: Reply) {
    self.init(status: reply.status, body: reply.text.bytes)
    session = reply.session?.text
    if reply.isReplay { headers.append(("Idempotent-Replayed", "true")) }
  }

  /// The answer to a wallet: of what came of its own answer only the log and the metrics hear.
  init(_ reply: WalletReply) {
    self.init(json: reply.body)
    session = reply.session.text
    verification = Verification(rawValue: reply.status.rawValue)
    code = reply.code
  }

  /// The answer to a submit: what came of the attempt, unless it is a kept reply.
  init(submitted reply: Reply) {
    self.init(reply)
    verification = reply.ending.flatMap { Verification(rawValue: $0.status.rawValue) }
    code = reply.ending?.code
  }
}
