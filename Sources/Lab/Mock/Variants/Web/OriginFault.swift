/// Ways in which an origin is not the one that asks, though it looks like it (row D01): an origin is compared as text.
enum OriginFault: String, CaseIterable, Sendable {
  case host, scheme, port
  case letterCase = "case"
  case slash, prefix

  /// Completes "The wallet answered …".
  var summary: String {
    switch self {
    case .host: "another host"
    case .scheme: "the same host over http"
    case .port: "another port of the host"
    case .letterCase: "the origin in upper case"
    case .slash: "the origin with a slash at its end"
    case .prefix: "the origin with the prefix `web-origin:`"
    }
  }

  func applied(to origin: String) -> String {
    let host = origin.drop { $0 != "/" }.dropFirst(2)
    return switch self {
    case .host: "https://other.\(host)"
    case .scheme: "http://\(host)"
    case .port: "https://\(host):8443"
    case .letterCase: "https://\(host.uppercased())"
    case .slash: origin + "/"
    case .prefix: "web-origin:" + origin
    }
  }
}
