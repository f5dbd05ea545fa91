import HTTP
import Network
import Sessions
import Trust

/// An address and port to listen on: `127.0.0.1:8080`, `[::1]:8080`.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
  static let standard = "127.0.0.1:8080"

  /// A numeric IPv4 or IPv6 address.
  package let address: String
  /// 0 for any free port.
  package let port: UInt16

  package init(address: String, port: UInt16) {
    self.address = address
    self.port = port
  }

  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), case let digits = text[text.index(after: colon)...],
      digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits)
    else { return nil }
    var address = String(text[..<colon])
    if address.hasPrefix("["), address.hasSuffix("]") {
      address = String(address.dropFirst().dropLast())
      guard address.contains(":") else { return nil }
    } else if address.contains(":") {
      return nil
    }
    guard NetworkAddress(address) != nil else { return nil }
    self.init(address: address, port: port)
  }

  package var isLoopback: Bool { Self.isLoopback(address) }

  package var description: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }

  /// True if the address is in 127.0.0.0/8 or is ::1.
  static func isLoopback(_ address: String) -> Bool {
    guard let octets = NetworkAddress(address)?.octets else { return false }
    return octets.count == 4 ? octets[0] == 127 : octets.last == 1 && octets.dropLast().allSatisfy { $0 == 0 }
  }

  /// True if a `Host` header is a name of this machine: a loopback address or `localhost`, with any port or none. With
  /// DNS rebinding, a page of another site can reach this machine. The page still sends its own site's name.
  package static func isThisMachine(_ host: String) -> Bool {
    let name = "localhost"
    if host == name { return true }
    let address = host.hasPrefix(name + ":") ? "127.0.0.1" + host.dropFirst(name.count) : host
    return (ListenAddress(address) ?? ListenAddress(address + ":0"))?.isLoopback ?? false
  }
}

/// Checks web origins. Origins are compared byte by byte, so each must have the form that browsers send (RFC 6454,
/// 6.2).
package enum WebOrigin {
  package static func isValid(_ origin: String) -> Bool {
    for scheme in ["https://", "http://"] where origin.hasPrefix(scheme) {
      let parts = origin.dropFirst(scheme.count).split(separator: ":", omittingEmptySubsequences: false)
      guard let host = parts.first, isHost(host), parts.count <= 2 else { return false }
      if parts.count == 2 {
        // Browsers leave out the default port of a scheme.
        guard let port = UInt16(parts[1]), String(port) == parts[1], port > 0, port != (scheme == "https://" ? 443 : 80)
        else { return false }
      }
      return scheme == "https://" || host == "localhost" || host == "127.0.0.1"
    }
    return false
  }

  package static func host(_ origin: String) -> String? {
    origin.split(separator: "/").last?.split(separator: ":").first.map(String.init)
  }

  private static func isHost(_ host: Substring) -> Bool {
    let allowed = Array("abcdefghijklmnopqrstuvwxyz0123456789-.".utf8)
    return !host.isEmpty && host.utf8.count <= 253 && host.utf8.allSatisfy(allowed.contains)
      && host.first != "." && host.last != "." && !host.contains("..")
  }
}

/// The server's access to the web. It outlives a configuration, so that fetched lists remain in memory.
package struct ServerNetwork: Sendable {
  let fetches: FetchLog
  let fetcher: any ListFetcher
  let revocation: any RevocationSource

  init() throws(StartError) {
    fetches = FetchLog()
    fetcher = try Self.webFetcher(fetches)
    revocation = RevocationChecker(fetcher: fetcher, executor: WorkerThreads.shared)
  }

  private init(fetcher: any ListFetcher) {
    fetches = FetchLog()
    self.fetcher = fetcher
    revocation = NoRevocationSource()
  }

  /// A network without access to any host, for checking a configuration.
  static let none = ServerNetwork(fetcher: StaticListFetcher())

  package static func webFetcher(_ log: FetchLog) throws(StartError) -> WebListFetcher {
    try StartError.attempt { () throws(WebListFetcher.StartError) in try WebListFetcher(.init(observer: log)) }
  }
}
