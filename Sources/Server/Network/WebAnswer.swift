import Base
import CCurl
import Trust

/// What is asked of a host.
enum WebRequest: Sendable {
  /// A list: a GET that follows redirects.
  case list
  /// To take a message: a POST that follows none, and whose answer counts by its status alone.
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

/// What came of one exchange.
struct WebAnswer: Sendable {
  let status: Int
  let retryAfter: RetryAfter?
  let list: FetchedList
}

/// When a host would be asked again (RFC 9110, 10.2.3).
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
