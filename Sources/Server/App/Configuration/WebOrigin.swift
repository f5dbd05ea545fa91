/// Web origins as browsers write them (RFC 6454, 6.2), since they are compared byte by byte.
enum WebOrigin {
  static func isValid(_ origin: String) -> Bool {
    for scheme in ["https://", "http://"] where origin.hasPrefix(scheme) {
      let parts = origin.dropFirst(scheme.count).split(separator: ":", omittingEmptySubsequences: false)
      guard let host = parts.first, isHost(host), parts.count <= 2 else { return false }
      if parts.count == 2 {
        // No browser writes a scheme's own port.
        guard let port = UInt16(parts[1]), String(port) == parts[1], port > 0, port != (scheme == "https://" ? 443 : 80)
        else { return false }
      }
      return scheme == "https://" || host == "localhost" || host == "127.0.0.1"
    }
    return false
  }

  /// The host of a valid origin.
  static func host(_ origin: String) -> String? {
    origin.split(separator: "/").last?.split(separator: ":").first.map(String.init)
  }

  private static func isHost(_ host: Substring) -> Bool {
    let allowed = Array("abcdefghijklmnopqrstuvwxyz0123456789-.".utf8)
    return !host.isEmpty && host.utf8.count <= 253 && host.utf8.allSatisfy(allowed.contains)
      && host.first != "." && host.last != "." && !host.contains("..")
  }
}
