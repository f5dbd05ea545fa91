import Base

/// A list's address, parsed strictly and checked as far as possible without a name look-up.
///
/// Libraries differ in how they read odd URLs. They may connect to a host that was not checked. Only unambiguous forms
/// of RFC 3986 are therefore accepted: plain names, canonical numbers, no user, no escapes in the host.
public struct ListAddress: Sendable, Hashable {
  public let isEncrypted: Bool
  /// The host in lower case; an IPv6 address without its brackets.
  public let host: String
  public let port: UInt16
  /// The part after the authority, from its first slash.
  let target: String

  /// The address to fetch: scheme and host in lower case, no fragment.
  public var text: String {
    let named = host.contains(":") ? "[\(host)]" : host
    let isStandard = port == AddressGuard.standardPort(isEncrypted: isEncrypted)
    return "\(isEncrypted ? "https" : "http")://\(named)\(isStandard ? "" : ":\(port)")\(target)"
  }

  /// The host of an address, by which waiting requests are counted. Empty for an address that may never be fetched.
  static func publisher(of address: String?) -> String {
    let rules = FetchRules(allowsPlainHTTP: true, allowsLoopback: true)
    guard let address, let read = try? ListAddress(address, allowing: rules) else { return "" }
    return read.host
  }

  public init(_ address: String, allowing rules: FetchRules) throws(FetchError) {
    guard address.utf8.count <= Limits.listAddressBytes else { throw .notAllowed("the address is too long") }
    guard address.utf8.allSatisfy(Self.isOctetOfAddress) else {
      throw .notAllowed("the address has invalid characters")
    }
    let parts = address.prefix { $0 != "#" }.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    switch parts[0].lowercased() {
    case "https" where parts.count == 2: isEncrypted = true
    case "http" where parts.count == 2 && rules.allowsPlainHTTP: isEncrypted = false
    default: throw .notAllowed("the address is not https")
    }
    guard parts[1].hasPrefix("//") else { throw .notAllowed("the address has no valid host") }
    let rest = parts[1].dropFirst(2)
    let authority = rest.prefix { $0 != "/" && $0 != "?" }
    target = (rest.dropFirst(authority.count).first == "/" ? "" : "/") + rest.dropFirst(authority.count)
    guard !authority.contains("@") else { throw .notAllowed("the address contains a user name") }
    let name: Substring
    (name, port) = try Self.split(authority, standardPort: AddressGuard.standardPort(isEncrypted: isEncrypted))
    let literal = try Self.literal(name)
    host = (name.hasPrefix("[") ? name.dropFirst().dropLast() : name).lowercased()
    try check(literal, allowing: rules)
  }

  /// The target address of a redirect (RFC 9110, 10.2.2).
  public func following(_ location: String, allowing rules: FetchRules) throws(FetchError) -> ListAddress {
    let next = try ListAddress(resolved(location), allowing: rules)
    guard next.isEncrypted || !isEncrypted else { throw .notAllowed("a redirect leads from https to http") }
    // A certificate may contain another port, but only for the host in its address.
    let isNamed = next.host == host && next.port == port
    guard isNamed || rules.allowsLoopback || next.port == AddressGuard.standardPort(isEncrypted: next.isEncrypted)
    else { throw .notAllowed("a redirect leads to a port that is not allowed") }
    return next
  }

  /// Resolves a reference by RFC 3986, 5.2.2. The client removes the dot segments of a path.
  private func resolved(_ reference: String) -> String {
    let scheme = reference.prefix { $0 != ":" && $0 != "/" && $0 != "?" && $0 != "#" }
    if reference.dropFirst(scheme.count).first == ":" { return reference }
    let base = String(text.dropLast(target.utf8.count))
    let path = target.prefix { $0 != "?" }
    if reference.hasPrefix("//") { return (isEncrypted ? "https:" : "http:") + reference }
    if reference.hasPrefix("/") { return base + reference }
    if reference.hasPrefix("?") { return base + path + reference }
    if reference.isEmpty || reference.hasPrefix("#") { return text }
    let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
    return base + folder + reference
  }

  private static func split(
    _ authority: Substring, standardPort: UInt16
  ) throws(FetchError) -> (name: Substring, port: UInt16) {
    let name = authority.hasPrefix("[") ? authority.prefix { $0 != "]" } + "]" : authority.prefix { $0 != ":" }
    guard authority.hasPrefix(name) else { throw .notAllowed("the address has no valid host") }
    let rest = authority.dropFirst(name.count)
    if rest.isEmpty { return (name, standardPort) }
    guard rest.first == ":", rest.count <= 6, rest.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }),
      let port = UInt16(rest.dropFirst()), port != 0
    else { throw .notAllowed("the address has no valid port") }
    return (name, port)
  }

  /// The numeric address; nil for a name. Refuses octal, hexadecimal and shortened IPv4 addresses (`127.1`), since some
  /// URL parsers treat them as names.
  private static func literal(_ name: Substring) throws(FetchError) -> NetworkAddress? {
    if name.hasPrefix("[") {
      guard let address = NetworkAddress(String(name.dropFirst().dropLast())), address.octets.count == 16 else {
        throw .notAllowed("the address has no valid host")
      }
      return address
    }
    let labels = name.split(separator: ".", omittingEmptySubsequences: false)
    guard name.utf8.count <= 253, labels.allSatisfy({ !$0.isEmpty && $0.utf8.allSatisfy(isOctetOfLabel) }) else {
      throw .notAllowed("the address has no valid host")
    }
    let last = labels[labels.count - 1].lowercased()
    guard last.hasPrefix("0x") || last.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    guard let address = NetworkAddress(String(name)) else {
      throw .notAllowed("the host is a number in a non-standard form")
    }
    return address
  }

  private func check(_ literal: NetworkAddress?, allowing rules: FetchRules) throws(FetchError) {
    if let literal {
      let refusal = AddressGuard.refusal(of: literal, port: port, isEncrypted: isEncrypted, under: rules)
      if let refusal { throw .notAllowed(refusal) }
    }
    guard !rules.allowsLoopback else { return }
    // RFC 6761, 6.3: these names always lead to this machine.
    let isThisMachine = host == "localhost" || host.hasSuffix(".localhost")
    if isThisMachine, !AddressGuard.mayReachThisMachine(under: rules) { throw .notAllowed(AddressGuard.notPublic) }
    let isAllowed = AddressGuard.allows(port, isEncrypted: isEncrypted, under: rules)
    if !isAllowed { throw .notAllowed(AddressGuard.wrongPort) }
  }

  /// RFC 3986, 2: visible ASCII without the characters that delimit URLs in text.
  private static func isOctetOfAddress(_ octet: UInt8) -> Bool {
    (0x21...0x7e).contains(octet) && !"\"<>\\^`{|}".utf8.contains(octet)
  }

  private static func isOctetOfLabel(_ octet: UInt8) -> Bool {
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_".utf8.contains(octet)
  }
}
