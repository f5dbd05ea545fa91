import Glibc
import HTTP
import Network
import Sessions
import Trust

/// An address and port to listen on: `127.0.0.1:8080`, `[::1]:8080`.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address used if the configuration names none.
  static let standard = "127.0.0.1:8080"

  /// A numeric IPv4 or IPv6 address.
  package let address: String
  /// 0 asks for a free port.
  package let port: UInt16

  package init(address: String, port: UInt16) {
    self.address = address
    self.port = port
  }

  /// Nil if the text is not a numeric address with a port.
  package init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = Self.port(text[text.index(after: colon)...]) else {
      return nil
    }
    var address = String(text[..<colon])
    if address.hasPrefix("["), address.hasSuffix("]") {
      address = String(address.dropFirst().dropLast())
      guard address.contains(":") else { return nil }
    } else if address.contains(":") {
      return nil
    }
    guard Self.isNumeric(address) else { return nil }
    self.init(address: address, port: port)
  }

  package var isLoopback: Bool { Self.isLoopback(address) }

  package var description: String { address.contains(":") ? "[\(address)]:\(port)" : "\(address):\(port)" }

  /// Whether the address is in 127.0.0.0/8 or is ::1.
  static func isLoopback(_ address: String) -> Bool {
    var four = in_addr()
    if inet_pton(AF_INET, address, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
    var six = in6_addr()
    guard inet_pton(AF_INET6, address, &six) == 1 else { return false }
    return withUnsafeBytes(of: six) { $0.last == 1 && $0.dropLast().allSatisfy { $0 == 0 } }
  }

  /// Whether a `Host` header names this machine: a loopback address or `localhost`, with any port or none.
  ///
  /// A page of another site can have its own name resolve to 127.0.0.1 (DNS rebinding). Its requests come from this
  /// machine but carry that name, so whatever is open to this machine is open under these names only.
  package static func isThisMachine(_ host: String) -> Bool {
    let name = "localhost"
    if host == name { return true }
    let address = host.hasPrefix(name + ":") ? "127.0.0.1" + host.dropFirst(name.count) : host
    return (ListenAddress(address) ?? ListenAddress(address + ":0"))?.isLoopback ?? false
  }

  private static func isNumeric(_ address: String) -> Bool {
    var buffer = in6_addr()
    return inet_pton(AF_INET, address, &buffer) == 1 || inet_pton(AF_INET6, address, &buffer) == 1
  }

  private static func port(_ text: Substring) -> UInt16? {
    text.utf8.allSatisfy { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") } ? UInt16(text) : nil
  }
}

/// Checks web origins. They must be written as browsers write them (RFC 6454, 6.2), since they are compared byte by
/// byte.
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

  /// The host of a valid origin.
  package static func host(_ origin: String) -> String? {
    origin.split(separator: "/").last?.split(separator: ":").first.map(String.init)
  }

  private static func isHost(_ host: Substring) -> Bool {
    let allowed = Array("abcdefghijklmnopqrstuvwxyz0123456789-.".utf8)
    return !host.isEmpty && host.utf8.count <= 253 && host.utf8.allSatisfy(allowed.contains)
      && host.first != "." && host.last != "." && !host.contains("..")
  }
}

/// The means by which a server reaches the web. It is kept when the configuration is read again, so that lists that
/// were fetched stay known.
package struct ServerNetwork: Sendable {
  /// Counts what is fetched, for the metrics.
  let fetches: FetchLog
  let fetcher: any ListFetcher
  let revocation: any RevocationSource

  /// A network that reaches the web.
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

  /// A network that reaches nothing, for checking a configuration.
  static let none = ServerNetwork(fetcher: StaticListFetcher())

  package static func webFetcher(_ log: FetchLog) throws(StartError) -> WebListFetcher {
    do throws(WebListFetcher.StartError) {
      return try WebListFetcher(.init(observer: log))
    } catch {
      throw .unavailable(error.description)
    }
  }
}

/// Where a server's configuration came from, and the parts of the previous reading that the next one needs.
struct ConfigurationSource: Sendable {
  let path: String
  let environment: EnvironmentSecrets
  let network: ServerNetwork
}
