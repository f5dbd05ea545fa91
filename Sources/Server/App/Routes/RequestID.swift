import Base
import Cryptography

/// The name of one request, for the reply, the log and whoever asks about it: `req_` and 24 hexadecimal digits.
///
/// Ours alone: an id that a client sends could be anything, and would end up in our logs.
enum RequestID {
  static func make() -> String {
    // A request is answered even if the random generator fails; its name is then no name.
    "req_" + Hex.encode((try? Random.bytes(12)) ?? [UInt8](repeating: 0, count: 12))
  }
}
