import Testing

/// One exchange of bytes with the server, and its required outcome.
struct ConformanceCase: Sendable, CustomTestStringConvertible {
  enum Reply: Equatable, Sendable {
    /// The handler's 200, with the body it must have echoed.
    case handled(String)
    /// `100 Continue`.
    case proceed
    /// Refused in the edge's words, either by our check or by libmicrohttpd.
    case refused(Int)
  }

  enum Ending: Sendable {
    /// Another request on the same connection gets a reply.
    case keptAlive
    /// The server closes, with nothing more sent.
    case closed
  }

  let name: String
  let bytes: [UInt8]
  let replies: [Reply]
  let ending: Ending

  init(_ name: String, _ text: String, _ replies: [Reply], _ ending: Ending) {
    self.name = name
    bytes = Array(text.utf8)
    self.replies = replies
    self.ending = ending
  }

  var testDescription: String { name }
}

/// The limits that the table's sizes refer to.
enum ConformanceLimits {
  static let header = 8 << 10
  static let body = 1000
}

private func get(_ rest: String) -> String { "GET /p HTTP/1.1\r\n\(rest)\r\n" }
private func post(_ headers: String, _ body: String = "") -> String {
  "POST /p HTTP/1.1\r\nHost: a\r\n\(headers)\r\n\(body)"
}

private let host = "Host: a\r\n"
private let chunked = "Transfer-Encoding: chunked\r\n"

extension ConformanceCase {
  /// Everything a proper client does.
  static let proper: [Self] = [
    Self("a simple GET keeps the connection", get(host), [.handled("GET /p  [] ")], .keptAlive),
    Self("header names in any case", get("hOsT: a\r\nX-TEST: 1\r\n"), [.handled("GET /p  [1] ")], .keptAlive),
    Self(
      "white space around a value is not part of it", get(host + "X-Test:  \t v w \t\r\nX-Test:\r\n"),
      [.handled("GET /p  [v w|] ")], .keptAlive),
    Self("a cookie of any shape", get(host + "Cookie: a=b; c; =\r\n"), [.handled("GET /p  [] ")], .keptAlive),
    Self("UTF-8 in a value", get(host + "X-Test: é\r\n"), [.handled("GET /p  [é] ")], .keptAlive),
    Self(
      "a query is decoded", "GET /a%20b?x=%C3%A9+1&y&z=a=b HTTP/1.1\r\nHost: a\r\n\r\n",
      [.handled("GET /a%20b x=é 1&y=&z=a=b [] ")], .keptAlive),
    Self(
      "pipelined requests are answered in order",
      "GET /later HTTP/1.1\r\nHost: a\r\n\r\n" + get(host) + post("Content-Length: 2\r\n", "hi") + get(host),
      [.handled("GET /later  [] "), .handled("GET /p  [] "), .handled("POST /p  [] hi"), .handled("GET /p  [] ")],
      .keptAlive),
    Self("a body by length", post("Content-Length: 2\r\n", "hi"), [.handled("POST /p  [] hi")], .keptAlive),
    Self("an empty body", post("Content-Length: 0\r\n"), [.handled("POST /p  [] ")], .keptAlive),
    Self("a POST without a length has no body", post(""), [.handled("POST /p  [] ")], .keptAlive),
    Self(
      "a GET with a body is read whole", get(host + "Content-Length: 2\r\n") + "hi", [.handled("GET /p  [] hi")],
      .keptAlive),
    Self(
      "a DELETE with a body is read whole", "DELETE /p HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi",
      [.handled("DELETE /p  [] hi")], .keptAlive),
    Self(
      "a body of exactly the limit",
      post("Content-Length: \(ConformanceLimits.body)\r\n", String(repeating: "x", count: ConformanceLimits.body)),
      [.handled("POST /p  [] " + String(repeating: "x", count: ConformanceLimits.body))], .keptAlive),
    Self(
      "Expect: 100-continue", post("Expect: 100-continue\r\nContent-Length: 2\r\n", "hi"),
      [.proceed, .handled("POST /p  [] hi")], .keptAlive),
    Self("Connection: close", get(host + "Connection: close\r\n"), [.handled("GET /p  [] ")], .closed),
    Self("HTTP/1.0 closes", "GET /p HTTP/1.0\r\n\r\n", [.handled("GET /p  [] ")], .closed),
    Self(
      "HTTP/1.0 with keep-alive", "GET /p HTTP/1.0\r\nHost: a\r\nConnection: Keep-Alive\r\n\r\n",
      [.handled("GET /p  [] ")], .keptAlive),
    Self("a later minor version", "GET /p HTTP/1.2\r\nHost: a\r\n\r\n", [.handled("GET /p  [] ")], .keptAlive),
    Self(
      "an absolute target", "GET http://a/p?x=1 HTTP/1.1\r\nHost: a\r\n\r\n", [.handled("GET /p x=1 [] ")], .keptAlive),
    Self(
      "an absolute target without a path", "GET http://a HTTP/1.1\r\nHost: a\r\n\r\n", [.handled("GET /  [] ")],
      .keptAlive),
    Self("OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", [.handled("OPTIONS *  [] ")], .keptAlive),
    Self("an IPv6 host with a port", get("Host: [::1]:8080\r\n"), [.handled("GET /p  [] ")], .keptAlive),
    Self(
      "an unknown method is the handler's matter", "BREW /p HTTP/1.1\r\nHost: a\r\n\r\n", [.handled("BREW /p  [] ")],
      .keptAlive),
    // An upgrade is ignored (RFC 9110, 7.8): the following bytes are still HTTP/1.1, and checked as such.
    Self(
      "an upgrade to h2c is ignored",
      get(host + "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n"),
      [.handled("GET /p  [] ")], .keptAlive),
    Self("empty lines before a request", "\r\n\r\n" + get(host), [.handled("GET /p  [] ")], .keptAlive),
    // RFC 9112, 2.2 lets a server read it; the check does not see it.
    Self("a bare LF before a request is accepted", "\n" + get(host), [.handled("GET /p  [] ")], .keptAlive),
  ]

  /// A body whose end two parsers could see in two places.
  static let ambiguousLengths: [Self] = [
    Self(
      "Content-Length beside chunks", post("Content-Length: 2\r\n" + chunked, "0\r\n\r\n"), [.refused(400)], .closed),
    Self(
      "chunks beside Content-Length", post(chunked + "Content-Length: 2\r\n", "0\r\n\r\n"), [.refused(400)], .closed),
    Self("two different lengths", post("Content-Length: 2\r\nContent-Length: 3\r\n", "hi!"), [.refused(400)], .closed),
    Self("two equal lengths", post("Content-Length: 2\r\nContent-Length: 2\r\n", "hi"), [.refused(400)], .closed),
    Self("a space before the colon", post("Content-Length : 2\r\n", "hi"), [.refused(400)], .closed),
    Self("a length with a sign", post("Content-Length: +2\r\n", "hi"), [], .closed),
    Self("a negative length", post("Content-Length: -1\r\n"), [], .closed),
    Self("a list of lengths", post("Content-Length: 2, 2\r\n", "hi"), [], .closed),
    Self("a length with a sign and a list", post("Content-Length: 5, 5\r\n", "hello"), [], .closed),
    Self("an empty length", post("Content-Length:\r\n"), [], .closed),
    Self("a hexadecimal length", post("Content-Length: 0x2\r\n", "hi"), [], .closed),
    Self(
      "a length beyond 64 bits", post("Content-Length: 99999999999999999999\r\n"), [], .closed),
    Self("xchunked", post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n"), [.refused(400)], .closed),
    Self("chunked, identity", post("Transfer-Encoding: chunked, identity\r\n", "0\r\n\r\n"), [.refused(400)], .closed),
    Self("gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n", "0\r\n\r\n"), [.refused(400)], .closed),
    Self("identity", post("Transfer-Encoding: identity\r\n"), [.refused(400)], .closed),
    Self(
      "chunked with white space after it", post("Transfer-Encoding: chunked \r\n", "0\r\n\r\n"), [.refused(400)],
      .closed),
    Self("chunked twice", post(chunked + chunked, "0\r\n\r\n"), [.refused(400)], .closed),
    Self("chunks in HTTP/1.0", "POST /p HTTP/1.0\r\nHost: a\r\n\(chunked)\r\n0\r\n\r\n", [.refused(400)], .closed),
  ]

  /// Bodies in chunks, each followed by a request. Proxies may see other line ends, so the connection closes after the
  /// first request and the second is never handled.
  static let chunks: [Self] =
    [
      ("of two chunks", "2\r\nhi\r\n1\r\n!\r\n0\r\n\r\n", "hi!"), ("with a bare LF", "2\nhi\n0\n\n", "hi"),
      ("with a bare LF after a size", "2\nhi\r\n0\r\n\r\n", "hi"),
      ("with a bare LF after a chunk", "2\r\nhi\n0\r\n\r\n", "hi"),
      ("with a bare LF in an extension", "2;\nxx\r\n0\r\n\r\n", "xx"), ("with a bare LF at its end", "0\r\n\n", ""),
      ("with zeros before a size", "00002\r\nhi\r\n000\r\n\r\n", "hi"),
      ("with extensions", "2;x=y\r\nhi\r\n0\r\n\r\n", "hi"),
      ("with a length in its trailer", "2\r\nhi\r\n0\r\nContent-Length: 99\r\n\r\n", "hi"),
      ("with chunks in its trailer", "2\r\nhi\r\n0\r\nTransfer-Encoding: chunked\r\n\r\n", "hi"),
    ].map { name, body, read in
      Self("a body in chunks \(name)", post(chunked, body) + get(host), [.handled("POST /p  [] " + read)], .closed)
    } + [
      Self(
        "chunks in any case", post("transfer-encoding: CHUNKED\r\n", "2\r\nhi\r\n0\r\n\r\n") + get(host),
        [.handled("POST /p  [] hi")], .closed)
    ]

  /// Bodies that are not valid chunks. libmicrohttpd refuses them by itself.
  static let brokenChunks: [Self] =
    [
      ("a size that is no number", "zz\r\nhi\r\n0\r\n\r\n"), ("a size with a sign", "+2\r\nhi\r\n0\r\n\r\n"),
      ("a size with 0x", "0x2\r\nhi\r\n0\r\n\r\n"), ("white space before a size", " 2\r\nhi\r\n0\r\n\r\n"),
      ("white space after a size", "2 \r\nhi\r\n0\r\n\r\n"), ("no size", "\r\nhi\r\n0\r\n\r\n"),
      ("an extension without a size", ";x\r\nhi\r\n0\r\n\r\n"), ("a chunk without its CRLF", "2\r\nhi0\r\n\r\n"),
      ("a chunk longer than its size", "2\r\nhi!\r\n0\r\n\r\n"),
    ].map { name, body in Self("chunks with \(name)", post(chunked, body) + get(host), [.refused(400)], .closed) } + [
      Self("a chunk beyond 64 bits", post(chunked, "10000000000000002\r\nhi\r\n"), [], .closed),
      Self(
        "a chunked body above the limit is cut off",
        post(chunked, "3e8\r\n" + String(repeating: "x", count: 1000) + "\r\n1\r\nx\r\n0\r\n\r\n"), [], .closed),
    ]

  /// A header that two parsers could cut into different lines.
  static let ambiguousHeaders: [Self] = [
    Self("no Host", get(""), [.refused(400)], .closed),
    Self("two Hosts", get(host + host), [.refused(400)], .closed),
    Self("two Hosts in HTTP/1.0", "GET /p HTTP/1.0\r\n\(host)\(host)\r\n", [.refused(400)], .closed),
    Self("a Host that is a list", get("Host: a, b\r\n"), [.refused(400)], .closed),
    Self("a Host with a path", get("Host: a/b\r\n"), [.refused(400)], .closed),
    Self("a Host other than the target's", "GET http://b/p HTTP/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("bare LF throughout", "GET /p HTTP/1.1\nHost: a\n\n", [.refused(400)], .closed),
    Self("bare LF after the request line", "GET /p HTTP/1.1\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("bare LF after a field", get("Host: a\nX-Test: 1\r\n"), [.refused(400)], .closed),
    Self("bare LF as the empty line", "GET /p HTTP/1.1\r\nHost: a\r\n\n", [.refused(400)], .closed),
    Self("bare CR in a value", get(host + "X-Test: 1\r2\r\n"), [.refused(400)], .closed),
    Self("bare CR as a line end", get("Host: a\rX-Test: 1\r\n"), [.refused(400)], .closed),
    Self("a folded line", get(host + "X-Test: 1\r\n 2\r\n"), [.refused(400)], .closed),
    Self("a line folded with a tab", get(host + "X-Test: 1\r\n\t2\r\nX-Other: 1\r\n"), [.refused(400)], .closed),
    Self("a first line that starts with a space", get(" X-Test: 1\r\n" + host), [.refused(400)], .closed),
    Self("NUL in a value", get(host + "X-Test: 1\u{0}2\r\n"), [.refused(400)], .closed),
    Self("NULs at the end of a value", get(host + "X-Test: 1\u{0}\u{0}\r\n"), [.refused(400)], .closed),
    Self("NUL before a value", get(host + "X-Test:\u{0}1\r\n"), [.refused(400)], .closed),
    Self("NUL in a name", get(host + "X\u{0}Test: 1\r\n"), [.refused(400)], .closed),
    Self("NUL in the target", "GET /p\u{0}q HTTP/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("NUL in the method", "GE\u{0}T /p HTTP/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("another control character in a value", get(host + "X-Test: \u{1}\r\n"), [.refused(400)], .closed),
    Self("an empty name", get(host + ": 1\r\n"), [.refused(400)], .closed),
    Self("a name that is no token", get(host + "X(Test): 1\r\n"), [.refused(400)], .closed),
    Self("a line without a colon", get(host + "X-Test\r\n"), [.refused(400)], .closed),
  ]

  /// An invalid request line.
  static let requestLines: [Self] = [
    Self("two spaces in the request line", "GET  /p  HTTP/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("a space in the target", "GET /p q HTTP/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("a space after the version", "GET /p HTTP/1.1 \r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("a method that is no token", "G(T /p HTTP/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("tabs for spaces", "GET\t/p\tHTTP/1.1\r\nHost: a\r\n\r\n", [], .closed),
    Self("HTTP/0.9", "GET /p\r\n\r\n", [.refused(400)], .closed),
    Self("HTTP/2.0", "GET /p HTTP/2.0\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", [.refused(400)], .closed),
    Self("HTTP/0.9 without a line end of its own", "GET /\n\n", [.refused(400)], .closed),
    Self("a method alone", "GET\r\n\r\n", [], .closed),
    Self("HTTP/3", "GET /p HTTP/3\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self(
      "a second request that is none", get(host) + "GET /p HTTP/9.9\r\n\r\n",
      [.handled("GET /p  [] "), .refused(400)], .closed),
    Self("a version in lower case", "GET /p http/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("bytes beyond ASCII in the target", "GET /é HTTP/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("a fragment in the target", "GET /p#x HTTP/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("a target without a slash", "GET p HTTP/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("CONNECT", "CONNECT a:80 HTTP/1.1\r\nHost: a:80\r\n\r\n", [.refused(400)], .closed),
    Self("a query with a broken escape", "GET /p?x=%4 HTTP/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("a query that is not UTF-8", "GET /p?x=%FF HTTP/1.1\r\nHost: a\r\n\r\n", [.refused(400)], .closed),
    Self("a TLS hello", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n", [], .closed),
  ]

  /// More than the limits allow.
  static let sizes: [Self] = [
    Self(
      "a declared body above the limit", post("Content-Length: \(ConformanceLimits.body + 1)\r\n"), [.refused(413)],
      .closed),
    Self(
      "a declared body above the limit that waits for 100",
      post("Expect: 100-continue\r\nContent-Length: \(ConformanceLimits.body + 1)\r\n"), [.refused(413)], .closed),
    Self(
      "a target above the limit",
      "GET /" + String(repeating: "x", count: ConformanceLimits.header / 2) + " HTTP/1.1\r\nHost: a\r\n\r\n",
      [.refused(414)], .closed),
    Self(
      "a target above the memory", "GET /" + String(repeating: "x", count: 60_000) + " HTTP/1.1\r\nHost: a\r\n\r\n",
      [.refused(414)], .closed),
    Self(
      "headers above the limit",
      get(host + "X-Test: " + String(repeating: "x", count: ConformanceLimits.header) + "\r\n"), [.refused(431)],
      .closed),
    Self(
      "headers above the memory", get(host + "X-Test: " + String(repeating: "x", count: 60_000) + "\r\n"),
      [.refused(431)], .closed),
    Self(
      "a cookie's parts above the memory", get(host + "Cookie: " + String(repeating: "a=b; ", count: 800) + "\r\n"),
      [], .closed),
    Self("fields above the memory", get(host + String(repeating: "a:\r\n", count: 2000)), [.refused(431)], .closed),
  ]
}
