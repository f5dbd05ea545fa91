import CPostgreSQL
import Glibc
import Sessions

/// A libpq URL (PostgreSQL 15, 34.1.1.2). It may contain a password, so it is never printed. `description` contains
/// only hosts and database. libpq reads all other settings from `PGPASSWORD`, the password file and similar sources.
package struct PostgreSQLAddress: Sendable, CustomStringConvertible, CustomReflectable {
  let url: String
  package let description: String

  package var customMirror: Mirror { Mirror(self, children: []) }

  package static func isOne(_ text: String) -> Bool {
    text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
  }

  /// - Throws: `ConfigurationError` if the text is not a PostgreSQL URL or specifies a connection service. It is also
  ///   thrown if the database is on another machine and `sslmode` is not `verify-full`.
  package init(_ url: String) throws(ConfigurationError) {
    // libpq's own message is not shown, since it may quote the URL with its password.
    guard Self.isOne(url), !Self.hasStrayAt(url), let given = Self.options(PQconninfoParse(url, nil)) else {
      throw ConfigurationError("is not a postgresql:// URL; write special characters in it as %XX")
    }
    guard given["service"] == nil else {
      throw ConfigurationError("must state the host and database in the URL, not in a connection service (`service`)")
    }
    // libpq's order of precedence: the URL, then the environment, then the built-in defaults.
    let merged = (Self.options(PQconndefaults()) ?? [:]).merging(given) { _, given in given }
    self.url = url
    let hosts = Self.list(merged["host"])
    let ports = Self.list(merged["port"])
    let named = (hosts.isEmpty ? Self.list(merged["hostaddr"]) : hosts).enumerated().map { index, host in
      let port = ports.indices.contains(index) ? ports[index] : ports.first ?? ""
      return host.hasPrefix("/") || port.isEmpty ? host : "\(host):\(port)"
    }
    description = "postgresql://\(named.joined(separator: ","))/\(merged["dbname"] ?? "")"
    let addresses = Self.list(merged["hostaddr"])
    let isLocal = (addresses.isEmpty ? hosts : addresses).allSatisfy(Self.isOnThisMachine)
    guard isLocal || merged["sslmode"] == "verify-full" else {
      throw ConfigurationError(
        "\(description) is on another machine and needs sslmode=verify-full, so that the database proves its identity "
          + "(and sslrootcert, unless its authority is in ~/.postgresql/root.crt)")
    }
  }

  /// True if the URL has an `@` other than the one after the password. The password then contains unescaped special
  /// characters. libpq mistakes a part of it for a host or database name, and that name may be printed.
  private static func hasStrayAt(_ url: String) -> Bool {
    let rest = url.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
    let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
    let at = UInt8(ascii: "@")
    return authority.count { $0 == at } > 1 || rest.dropFirst(authority.count).contains(at)
  }

  /// True for a loopback address, and for a socket in the file system or abstract namespace. An empty host means
  /// libpq's default.
  private static func isOnThisMachine(_ host: String) -> Bool {
    if host.isEmpty || host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" { return true }
    var four = in_addr()
    if inet_pton(AF_INET, host, &four) == 1 { return UInt32(bigEndian: four.s_addr) >> 24 == 127 }
    var six = in6_addr()
    guard inet_pton(AF_INET6, host, &six) == 1 else { return false }
    return withUnsafeBytes(of: six) { $0.last == 1 && $0.dropLast().allSatisfy { $0 == 0 } }
  }

  /// Splits a list of hosts, ports or addresses, each of which may be empty.
  private static func list(_ text: String?) -> [String] {
    text.map { $0.split(separator: ",", omittingEmptySubsequences: false).map(String.init) } ?? []
  }

  /// The options that have a value; nil if libpq could not parse the text. Frees the list.
  private static func options(_ first: UnsafeMutablePointer<PQconninfoOption>?) -> [String: String]? {
    guard let first else { return nil }
    defer { PQconninfoFree(first) }
    var options: [String: String] = [:]
    var option = first
    while let keyword = option.pointee.keyword {
      if let value = option.pointee.val { options[String(cString: keyword)] = String(cString: value) }
      option += 1
    }
    return options
  }
}
