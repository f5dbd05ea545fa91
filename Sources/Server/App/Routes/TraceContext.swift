import Base
import Cryptography
import HTTP

/// A request's place in a distributed trace, for the log (W3C Trace Context, 3.2).
///
/// Of the caller's header only the trace's id is taken, which is a number and no more; `tracestate` is not read.
struct TraceContext: Sendable, Hashable {
  /// 32 lower-case hexadecimal digits.
  let traceID: String
  /// Of this request's work here: 16 digits, always our own.
  let spanID: String

  /// Goes on with the caller's trace. Nil where there is none, or no valid one: nobody else would know of another, and
  /// the request has an id of its own.
  init?(_ headers: HTTPHeaders) {
    // A request is answered even if the random generator fails; it then belongs to no trace.
    guard let traceID = headers.single("traceparent").flatMap(Self.traceID), let span = try? Random.bytes(8) else {
      return nil
    }
    self.traceID = traceID
    spanID = Hex.encode(span)
  }

  /// `00-<trace-id>-<parent-id>-<flags>`; later versions may have more after that (3.2.2, 3.2.4).
  static func traceID(in traceparent: String) -> String? {
    let parts = traceparent.split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count >= 4, zip(parts, [2, 32, 16, 2]).allSatisfy({ isHex($0, digits: $1) }) else { return nil }
    guard parts[0] != "ff", parts[0] != "00" || parts.count == 4 else { return nil }
    guard !parts[1].allSatisfy({ $0 == "0" }), !parts[2].allSatisfy({ $0 == "0" }) else { return nil }
    return String(parts[1])
  }

  /// Lower case alone (3.2.1).
  private static func isHex(_ text: Substring, digits: Int) -> Bool {
    text.utf8.count == digits
      && text.utf8.allSatisfy {
        ($0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9")) || ($0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "f"))
      }
  }
}
