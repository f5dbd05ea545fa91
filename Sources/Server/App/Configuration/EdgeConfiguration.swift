import Base
import HTTP

/// The limits, proxies and TLS of a configuration.
package struct EdgeConfiguration: Sendable {
  var limits = RateLimits.standard
  var proxy = ProxyRule()
  var tls: TLSFiles?
  /// Connections at one time; nil uses the transport's default, as for the next two.
  var connections: Int?
  var connectionsPerAddress: Int?
  var concurrentRequests: Int?
  /// Milliseconds that a request may wait for its turn; nil uses the transport's defaults.
  package var patience: Int?

  /// Test mode's: no rates are limited.
  static let open = EdgeConfiguration(limits: .none)

  /// Writes the transport's limits to its options.
  func apply(to options: inout HTTPServerConfiguration) {
    options.maxConnections = max(connections ?? options.maxConnections, options.threads)
    options.maxConnectionsPerAddress = connectionsPerAddress ?? options.maxConnectionsPerAddress
    options.maxRunning = concurrentRequests ?? options.maxRunning
    options.delayTarget = patience ?? options.delayTarget
    options.delayInterval = patience ?? options.delayInterval
  }
}

/// The TLS certificate and its key, as read from their files.
struct TLSFiles: Sendable {
  let certificate: [UInt8]
  let key: Secret
  /// The names of the two files, for messages.
  let names: String
  /// The path of the configuration that names them.
  let configuration: String

  func identities() throws(Schema.Fault) -> TLSIdentities {
    do throws(TLSIdentities.Fault) {
      return try TLSIdentities(certificate: certificate, key: key.bytes)
    } catch {
      throw Schema.Fault("/tls", "\(names): \(error.reason)")
    }
  }

  func replace(in identities: TLSIdentities) throws(Schema.Fault) {
    do throws(TLSIdentities.Fault) {
      try identities.replace(certificate: certificate, key: key.bytes)
    } catch {
      throw Schema.Fault("/tls", "\(names): \(error.reason)")
    }
  }
}

extension EdgeConfiguration {
  /// The highest rate and the highest burst that may be configured.
  static let highestRate: Int64 = 1_000_000
  private static let connectionsPerPublicAddress = 128

  /// Reads `tls`, `limits`, `trusted_proxies` and `proxy_header`. A rate that is `false` is not limited.
  ///
  /// ```json
  /// { "tls": { "certificate": "tls/chain.pem", "key": "tls/key.pem" },
  ///   "limits": { "per_key": { "rate": 1000, "burst": 2000 }, "per_session": { "rate": 5, "burst": 20 },
  ///     "per_address": { "rate": 50, "burst": 200 }, "connections": 1024, "connections_per_address": 128,
  ///     "concurrent_requests": 32 },
  ///   "trusted_proxies": ["10.0.0.0/8"], "proxy_header": "X-Forwarded-For" }
  /// ```
  init(configured root: Schema.Object, isBehindProxy: Bool, _ secrets: ConfiguredSecrets) throws(Schema.Fault) {
    tls = try Self.tls(root, secrets)
    proxy = try Self.proxy(root, isBehindProxy: isBehindProxy)
    // On the open internet without a proxy, one peer must not take all connections.
    if tls != nil, !isBehindProxy { connectionsPerAddress = Self.connectionsPerPublicAddress }
    guard let entry = try root.object("limits") else { return }
    limits.perKey = try Self.rate("per_key", of: entry, default: RateLimits.standard.perKey)
    limits.perSession = try Self.rate("per_session", of: entry, default: RateLimits.standard.perSession)
    limits.perAddress = try Self.rate("per_address", of: entry, default: RateLimits.standard.perAddress)
    connections = try entry.ifAny("connections", entry.number).map { Int($0) }
    connectionsPerAddress =
      try entry.ifAny("connections_per_address", entry.number).map { Int($0) } ?? connectionsPerAddress
    concurrentRequests = try entry.ifAny("concurrent_requests", entry.number).map { Int($0) }
  }

  private static func tls(
    _ root: Schema.Object, _ secrets: ConfiguredSecrets
  ) throws(Schema.Fault) -> TLSFiles? {
    guard let entry = try root.object("tls") else { return nil }
    let certificate = try entry.text("certificate")
    let key = try secrets.secret(entry.required("key"), at: entry.pointer + "/key")
    let files = TLSFiles(
      certificate: try secrets.file.read(certificate, at: entry.pointer + "/certificate"), key: key,
      names: secrets.file.resolve(certificate) + " and " + key.name, configuration: secrets.file.path)
    // Loaded here once, so that `--check-config` also finds a pair that cannot be used.
    _ = try files.identities()
    return files
  }

  private static func proxy(_ root: Schema.Object, isBehindProxy: Bool) throws(Schema.Fault) -> ProxyRule {
    var rule = ProxyRule(isBehindProxy: isBehindProxy)
    for (index, text) in try root.texts("trusted_proxies").enumerated() {
      guard let block = AddressBlock(text) else {
        throw root.fault(
          "trusted_proxies/\(index)", "must be an address or a network, such as 10.0.0.7 or 10.0.0.0/8")
      }
      rule.trusted.append(block)
    }
    guard let header = ProxyRule.Header(rawValue: try root.text("proxy_header")) else {
      let known = ProxyRule.Header.allCases.map(\.rawValue).joined(separator: " or ")
      throw root.fault("proxy_header", "must be \(known)")
    }
    rule.header = header
    guard isBehindProxy || (rule.trusted.isEmpty && root.value("proxy_header") == nil) else {
      throw root.fault(rule.trusted.isEmpty ? "proxy_header" : "trusted_proxies", "needs behind_proxy: true")
    }
    return rule
  }

  private static func rate(
    _ name: String, of limits: Schema.Object, default standard: RateLimit?
  ) throws(Schema.Fault) -> RateLimit? {
    if limits.value(name)?.bool == false { return nil }
    guard let entry = try limits.object(name) else { return standard }
    let rate = try entry.number("rate")
    let burst = try entry.ifAny("burst", entry.number) ?? min(2 * rate, highestRate)
    return RateLimit(rate: Double(rate), burst: Double(burst))
  }
}
