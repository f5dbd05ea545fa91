import Base
import CCurl
import Trust

/// A request to a host.
enum WebRequest: Sendable {
  /// Fetches a list, by a GET that follows redirects.
  case list
  /// Sends a message, by a POST that follows no redirect. Of the answer only the status and `Retry-After` count.
  case message(WebMessage)
}

/// A message for a host, with the headers that go with it.
package struct WebMessage: Sendable, Hashable {
  /// `Name: value`, in printable ASCII.
  package let headers: [String]
  package let body: [UInt8]

  package init(headers: [String], body: [UInt8]) {
    self.headers = headers
    self.body = body
  }
}

/// The answer of one exchange.
struct WebAnswer: Sendable {
  let status: Int
  let retryAfter: RetryAfter?
  let list: FetchedList
}

/// When a host may be asked again, from the `Retry-After` of its answer (RFC 9110, 10.2.3).
package enum RetryAfter: Sendable, Hashable {
  case seconds(Int64)
  case date(Timestamp)

  init?(_ value: String) {
    if !value.isEmpty, value.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
      self = .seconds(Int64(value) ?? .max)
    } else {
      let seconds = curl_getdate(value, nil)
      guard seconds >= 0 else { return nil }
      self = .date(Timestamp(secondsSince1970: Int64(seconds)))
    }
  }

  package func time(from now: Timestamp) -> Timestamp {
    switch self {
    case .seconds(let seconds): now + seconds
    case .date(let date): date
    }
  }
}

/// The header of one answer, read line by line as libcurl hands it over.
struct AnswerHeader {
  private(set) var status = 0
  private(set) var isComplete = false
  private(set) var mediaType: String?
  private(set) var maxAge: Int64?
  private(set) var expires: Timestamp?
  private(set) var encoding: String?
  private(set) var retryAfter: RetryAfter?
  /// Every different value of `Location`. A redirect with two of them is not followed.
  private(set) var locations: Set<String> = []

  var isRedirect: Bool { [301, 302, 303, 307, 308].contains(status) }

  /// Reads a line without its end. Lines after a complete header (trailers) are ignored.
  mutating func read(_ line: String) {
    if isComplete { return }
    if line.hasPrefix("HTTP/") {
      self = AnswerHeader()
      let parts = line.split(separator: " ", maxSplits: 2)
      status = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
    } else if line.isEmpty {
      // An interim answer is followed by another (RFC 9110, 15.2).
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
    case "expires":
      let seconds = curl_getdate(value, nil)
      expires = seconds < 0 ? nil : Timestamp(secondsSince1970: Int64(seconds))
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

/// A call's place in the queue: its request, and the task that waits for the answer. It ends once, by whichever comes
/// first: the answer, the time limit, or the cancellation of the task.
final class FetchTicket: Sendable {
  typealias Answer = Result<WebAnswer, FetchError>

  let address: ListAddress
  let request: WebRequest
  let rules: FetchRules
  let deadline: ContinuousClock.Instant
  private let state = Locked(State.new)

  private enum State {
    case new
    case awaited(CheckedContinuation<Answer, Never>)
    case ended(Answer)
  }

  init(
    _ address: ListAddress, _ request: WebRequest = .list, rules: FetchRules, deadline: ContinuousClock.Instant
  ) {
    self.address = address
    self.request = request
    self.rules = rules
    self.deadline = deadline
  }

  var isEnded: Bool {
    state.withLock { if case .ended = $0 { true } else { false } }
  }

  /// Waits for the answer. If the task was cancelled before, there is an answer already.
  func await(_ continuation: CheckedContinuation<Answer, Never>) {
    let early: Answer? = state.withLock { state in
      if case .ended(let answer) = state { return answer }
      state = .awaited(continuation)
      return nil
    }
    if let early { continuation.resume(returning: early) }
  }

  func end(with answer: Answer) {
    let waiting: CheckedContinuation<Answer, Never>? = state.withLock { state in
      switch state {
      case .new:
        state = .ended(answer)
        return nil
      case .awaited(let continuation):
        state = .ended(answer)
        return continuation
      case .ended: return nil
      }
    }
    waiting?.resume(returning: answer)
  }

  /// Milliseconds until the deadline; 0 once it is past, and never more than a day.
  var remainingMilliseconds: Int {
    let (seconds, attoseconds) = (deadline - .now).components
    return max(0, Int(max(-1, min(seconds, 86_400))) * 1_000 + Int(attoseconds / 1_000_000_000_000_000))
  }
}
