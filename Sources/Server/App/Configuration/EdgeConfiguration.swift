import HTTP

/// What a configuration says of limits, proxies and TLS.
package struct EdgeConfiguration: Sendable {
  var limits = RateLimits.standard
  var proxy = ProxyRule()
  var tls: TLSFiles?
  /// Nil: the transport's own.
  var connections: Int?
  var connectionsPerAddress: Int?
  var concurrentRequests: Int?
  /// Milliseconds that a request may wait for its turn; nil: the transport's own.
  package var patience: Int?

  /// Test mode's.
  static let open = EdgeConfiguration(limits: .none)

  /// Writes the limits of the transport.
  func apply(to options: inout HTTPServerConfiguration) {
    options.maxConnections = max(connections ?? options.maxConnections, options.threads)
    options.maxConnectionsPerAddress = connectionsPerAddress ?? options.maxConnectionsPerAddress
    options.maxRunning = concurrentRequests ?? options.maxRunning
    options.delayTarget = patience ?? options.delayTarget
    options.delayInterval = patience ?? options.delayInterval
  }
}

/// The TLS certificate and its key, as they were read.
struct TLSFiles: Sendable {
  let certificate: [UInt8]
  let key: Secret
  /// Makes the complaint about them.
  let fault: @Sendable (_ problem: String) -> StartError

  func identities() throws(StartError) -> TLSIdentities {
    do throws(TLSIdentities.Fault) {
      return try TLSIdentities(certificate: certificate, key: key.bytes)
    } catch {
      throw fault(error.reason)
    }
  }

  func replace(in identities: TLSIdentities) throws(StartError) {
    do throws(TLSIdentities.Fault) {
      try identities.replace(certificate: certificate, key: key.bytes)
    } catch {
      throw fault(error.reason)
    }
  }
}

/// Reads `tls`, `limits`, `trusted_proxies` and `proxy_header`.
///
/// ```json
/// { "tls": { "certificate": "tls/chain.pem", "key": "tls/key.pem" },
///   "limits": { "per_key": { "rate": 1000, "burst": 2000 }, "per_session": { "rate": 5, "burst": 20 },
///     "per_address": { "rate": 50, "burst": 200 }, "connections": 1024, "connections_per_address": 128,
///     "concurrent_requests": 32 },
///   "trusted_proxies": ["10.0.0.0/8"], "proxy_header": "X-Forwarded-For" }
/// ```
/// A rate that is `false` is not limited.
struct EdgeReader {
  private static let connectionsPerPublicAddress = 128

  static let rates: ClosedRange<Int64> = 1...1_000_000
  static let connections: ClosedRange<Int64> = 1...1_000_000
  static let connectionsPerAddress: ClosedRange<Int64> = 0...1_000_000
  static let concurrentRequests: ClosedRange<Int64> = 1...100_000

  let secrets: SecretReader
  private var file: ConfigurationFile { secrets.file }

  init(secrets: SecretReader) { self.secrets = secrets }

  func edge(_ root: ConfigurationReader, isBehindProxy: Bool) throws(StartError) -> EdgeConfiguration {
    var edge = EdgeConfiguration()
    edge.tls = try tls(root)
    edge.proxy = try proxy(root, isBehindProxy: isBehindProxy)
    // Whoever is on the open internet without a proxy must not have all connections taken by one peer.
    if edge.tls != nil, !isBehindProxy { edge.connectionsPerAddress = Self.connectionsPerPublicAddress }
    guard let limits = try root.object("limits", known: ConfigurationTables.limits.names) else { return edge }
    edge.limits.perKey = try rate("per_key", of: limits, default: RateLimits.standard.perKey)
    edge.limits.perSession = try rate("per_session", of: limits, default: RateLimits.standard.perSession)
    edge.limits.perAddress = try rate("per_address", of: limits, default: RateLimits.standard.perAddress)
    edge.connections = try number("connections", of: limits, in: Self.connections)
    edge.connectionsPerAddress =
      try number("connections_per_address", of: limits, in: Self.connectionsPerAddress) ?? edge.connectionsPerAddress
    edge.concurrentRequests = try number("concurrent_requests", of: limits, in: Self.concurrentRequests)
    return edge
  }

  private func tls(_ root: ConfigurationReader) throws(StartError) -> TLSFiles? {
    guard let entry = try root.object("tls", known: ConfigurationTables.tls.names) else { return nil }
    let certificate = try entry.string("certificate")
    let key = try secrets.secret(entry.required("key"), at: entry.pointer + "/key")
    let place = file.resolve(certificate) + " and " + key.name
    let files = TLSFiles(
      certificate: try file.read(certificate, at: entry.pointer + "/certificate"), key: key,
      fault: { [path = file.path] problem in
        .configuration(path, [ConfigurationProblem(pointer: "/tls", detail: "\(place): \(problem)")])
      })
    // So that a pair that cannot be shown is found where the configuration is only checked.
    _ = try files.identities()
    return files
  }

  private func proxy(_ root: ConfigurationReader, isBehindProxy: Bool) throws(StartError) -> ProxyRule {
    var rule = ProxyRule(isBehindProxy: isBehindProxy)
    for (index, text) in try root.strings("trusted_proxies", isRequired: false).enumerated() {
      guard let block = AddressBlock(text) else {
        throw root.fault(
          "trusted_proxies/\(index)", "must be an address or a network, such as 10.0.0.7 or 10.0.0.0/8")
      }
      rule.trusted.append(block)
    }
    if root.value("proxy_header") != nil {
      guard let header = ProxyRule.Header(rawValue: try root.string("proxy_header")) else {
        let known = ProxyRule.Header.allCases.map(\.rawValue).joined(separator: " or ")
        throw root.fault("proxy_header", "must be \(known)")
      }
      rule.header = header
    }
    guard isBehindProxy || (rule.trusted.isEmpty && root.value("proxy_header") == nil) else {
      throw root.fault(rule.trusted.isEmpty ? "proxy_header" : "trusted_proxies", "needs behind_proxy: true")
    }
    return rule
  }

  private func rate(
    _ name: String, of limits: ConfigurationReader, default standard: RateLimit?
  ) throws(StartError) -> RateLimit? {
    if limits.value(name)?.bool == false { return nil }
    guard let entry = try limits.object(name, known: ConfigurationTables.rate.names) else { return standard }
    guard entry.value("rate") != nil else { throw entry.fault("rate", "is required") }
    let rate = try entry.integer("rate", in: Self.rates, default: 1)
    let burst = try entry.integer(
      "burst", in: Self.rates, default: min(2 * rate, Self.rates.upperBound))
    return RateLimit(rate: Double(rate), burst: Double(burst))
  }

  private func number(
    _ name: String, of limits: ConfigurationReader, in range: ClosedRange<Int64>
  ) throws(StartError) -> Int? {
    guard limits.value(name) != nil else { return nil }
    return Int(try limits.integer(name, in: range, default: range.lowerBound))
  }
}
