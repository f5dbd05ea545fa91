import Base
import CCurl
import Trust

/// A request to a host.
enum WebRequest: Sendable {
  /// Fetches a list, by a GET that follows redirects.
  case list
  /// Sends a message, and follows no redirect. No status of the reply is an error.
  case message(WebMessage)
}

/// A message for a host.
package struct WebMessage: Sendable, Hashable {
  /// Header fields in the form `Name: value`, in printable ASCII.
  package let headers: [String]
  /// The body of a POST; nil for a GET.
  package let body: [UInt8]?

  package init(headers: [String] = [], body: [UInt8]?) {
    self.headers = headers
    self.body = body
  }
}

/// The reply to a message.
package struct WebReply: Sendable, Hashable {
  package let status: Int
  package let retryAfter: RetryAfter?
  /// A redirect's target as the reply states it; nil if the reply states no target or several.
  package let location: String?

  package init(status: Int, retryAfter: RetryAfter? = nil, location: String? = nil) {
    self.status = status
    self.retryAfter = retryAfter
    self.location = location
  }
}

/// The time for a retry, from `Retry-After` (RFC 9110, 10.2.3).
package enum RetryAfter: Sendable, Hashable {
  case seconds(Int64)
  case date(Timestamp)

  init?(_ value: String) {
    if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      self = .seconds(Int64(value) ?? .max)
    } else {
      guard let date = Timestamp(httpDate: value) else { return nil }
      self = .date(date)
    }
  }

  package func time(from now: Timestamp) -> Timestamp {
    switch self {
    case .seconds(let seconds): now + seconds
    case .date(let date): date
    }
  }
}

extension Timestamp {
  /// Nil if the text is not a date.
  fileprivate init?(httpDate text: String) {
    let seconds = curl_getdate(text, nil)
    guard seconds >= 0 else { return nil }
    self.init(secondsSince1970: Int64(seconds))
  }
}

/// The header of one reply, which libcurl passes line by line.
struct ReplyHeader {
  private(set) var status = 0
  private(set) var isComplete = false
  private(set) var mediaType: String?
  private(set) var maxAge: Int64?
  private(set) var expires: Timestamp?
  private(set) var encoding: String?
  private(set) var retryAfter: RetryAfter?
  /// The distinct values of `Location`. A redirect with two values is not followed.
  private(set) var locations: Set<String> = []

  var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }

  /// Reads a line without its end. Lines after a complete header (trailers) are ignored.
  mutating func read(_ line: String) {
    if isComplete { return }
    if line.hasPrefix("HTTP/") {
      self = ReplyHeader()
      let parts = line.split(separator: " ", maxSplits: 2)
      status = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    } else if line.isEmpty {
      // Another reply follows an interim reply (RFC 9110, 15.2).
      isComplete = status >= 200
    } else if let colon = line.firstIndex(of: ":") {
      take(line[..<colon].lowercased(), Self.trimmed(line[line.index(after: colon)...]))
    }
  }

  private mutating func take(_ name: String, _ value: String) {
    switch name {
    case "content-type": mediaType = Self.trimmed(value.prefix { $0 != ";" }).lowercased()
    case "content-encoding": encoding = (encoding.map { $0 + "," } ?? "") + value.lowercased()
    case "location": locations.insert(value)
    case "retry-after": retryAfter = RetryAfter(value)
    case "cache-control":
      for directive in value.lowercased().split(separator: ",") {
        let parts = Self.trimmed(directive).split(separator: "=", maxSplits: 1)
        if parts.count == 2, parts[0] == "max-age" { maxAge = Int64(parts[1]) }
      }
    case "expires": expires = Timestamp(httpDate: value)
    default: break
    }
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    var text = Substring(text).drop(while: isBlank)
    while let last = text.last, isBlank(last) { text.removeLast() }
    return String(text)
  }
}

/// A queued fetch or message. It ends once: with the reply, at the time limit, or when the task is cancelled.
final class FetchTicket: Sendable {
  typealias Outcome = Result<(reply: WebReply, list: FetchedList), FetchError>

  let address: ListAddress
  let request: WebRequest
  let rules: FetchRules
  let deadline: ContinuousClock.Instant
  private let state = Locked(State.new)

  private enum State {
    case new
    case awaited(CheckedContinuation<Outcome, Never>)
    case ended(Outcome)
  }

  init(
    _ address: ListAddress, _ request: WebRequest = .list, rules: FetchRules, deadline: ContinuousClock.Instant
  ) {
    self.address = address
    self.request = request
    self.rules = rules
    self.deadline = deadline
  }

  var isEnded: Bool { state.withLock { if case .ended = $0 { true } else { false } } }

  /// Waits for the outcome. If the task was cancelled earlier, the outcome already exists.
  func await(_ continuation: CheckedContinuation<Outcome, Never>) {
    let early: Outcome? = state.withLock { state in
      if case .ended(let outcome) = state { return outcome }
      state = .awaited(continuation)
      return nil
    }
    if let early { continuation.resume(returning: early) }
  }

  func end(with outcome: Outcome) {
    let waiting: CheckedContinuation<Outcome, Never>? = state.withLock { state in
      let before = state
      if case .ended = before { return nil }
      state = .ended(outcome)
      if case .awaited(let continuation) = before { return continuation }
      return nil
    }
    waiting?.resume(returning: outcome)
  }

  func fail(_ reason: String) { end(with: .failure(.unavailable(reason))) }

  /// Milliseconds until the deadline; 0 after it, and never more than a day.
  var remainingMilliseconds: Int {
    let (seconds, attoseconds) = (deadline - .now).components
    return max(0, Int(max(-1, min(seconds, 86_400))) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
  }
}
