import HTTP

/// Which client a request counts against: the peer, or behind a proxy whoever the proxy says.
///
/// Only the last hop is believed, which the proxy itself wrote; what comes before it is the client's own word.
struct ProxyRule: Sendable, Hashable {
  /// The header by which the proxy names its client. One that it does not set may come from the client, so that only
  /// this one is read.
  enum Header: String, Sendable, Hashable, CaseIterable {
    case xForwardedFor = "X-Forwarded-For"
    /// RFC 7239.
    case forwarded = "Forwarded"
  }

  var isBehindProxy = false
  /// Beside loopback.
  var trusted: [AddressBlock] = []
  var header = Header.xForwardedFor

  /// Nil where the proxy does not say: all clients would count as one.
  func address(of request: HTTPRequest) -> ClientAddress? {
    let peer = request.remoteAddress
    guard isBehindProxy, ListenAddress.isLoopback(peer) || trusted.contains(where: { $0.contains(peer) }) else {
      return ClientAddress(peer)
    }
    guard let hop = request.headers.values(header.rawValue).last?.split(separator: ",").last else { return nil }
    return switch header {
    case .xForwardedFor: Self.address(in: hop.withoutBlanks)
    case .forwarded: Self.node(of: hop).flatMap(Self.address)
    }
  }

  /// The value of `for` in one element of `Forwarded` (RFC 7239, 4).
  private static func node(of element: Substring) -> Substring? {
    for pair in element.split(separator: ";") {
      let sides = pair.split(separator: "=", maxSplits: 1)
      guard sides.count == 2, sides[0].withoutBlanks.lowercased() == "for" else { continue }
      let value = sides[1].withoutBlanks
      return value.count > 1 && value.first == "\"" && value.last == "\"" ? value.dropFirst().dropLast() : value
    }
    return nil
  }

  /// `192.0.2.43`, `192.0.2.43:47011`, `2001:db8::1`, `[2001:db8::1]`, `[2001:db8::1]:4711`; nil for names and `unknown`.
  private static func address(in text: Substring) -> ClientAddress? {
    if text.first == "[" { return text.dropFirst().split(separator: "]").first.flatMap { ClientAddress($0) } }
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    return parts.count == 2 ? ClientAddress(parts[0]) : ClientAddress(text)
  }
}
