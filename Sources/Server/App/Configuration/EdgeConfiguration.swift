import Base
import HTTP

package struct EdgeConfiguration: Sendable {
  var limits = RateLimits.standard
  var proxy = ProxyRule()
  var tls: TLSFiles?
  /// Maximum number of concurrent connections. Here and in the next two members, nil means the transport's default.
  var connections: Int?
  var connectionsPerAddress: Int?
  var concurrentRequests: Int?
  /// Milliseconds that a request may be queued; nil means the transport's defaults.
  package var patience: Int?

  /// The configuration of test mode, without rate limits.
  static let open = EdgeConfiguration(limits: .none)

  func apply(to options: inout HTTPServerConfiguration) {
    options.maxConnections = max(connections ?? options.maxConnections, options.threads)
    options.maxConnectionsPerAddress = connectionsPerAddress ?? options.maxConnectionsPerAddress
    options.maxRunning = concurrentRequests ?? options.maxRunning
    options.delayTarget = patience ?? options.delayTarget
    options.delayInterval = patience ?? options.delayInterval
  }
}

struct TLSFiles: Sendable {
  let certificate: [UInt8]
  let key: Secret
  /// The names of the certificate and key files, for messages.
  let names: String
  /// The path of the configuration file that lists the two files.
  let configuration: String

  /// Creates TLS identities, or replaces the certificate and key of existing identities.
  @discardableResult
  func load(into identities: TLSIdentities? = nil) throws(StartError) -> TLSIdentities {
    do throws(TLSIdentities.LoadError) {
      guard let identities else { return try TLSIdentities(certificate: certificate, key: key.bytes) }
      try identities.replace(certificate: certificate, key: key.bytes)
      return identities
    } catch {
      throw .configuration(configuration, [InputError("/tls", "\(names): \(error.reason)")])
    }
  }
}

extension EdgeConfiguration {
  private static let highestRate: Int64 = 1_000_000
  /// No peer except a proxy may use all connections.
  fileprivate static let connectionsPerPublicAddress = 128

  /// The rate limits of callers, for a configuration without TLS and proxies.
  static let limits = Shape<EdgeConfiguration>.form(
    "limits",
    .ifAny("per_key", rate.orFalse, "Requests by one API key."),
    .ifAny("per_session", rate.orFalse, "Requests for one session without an API key."),
    .ifAny("per_address", rate.orFalse, "Requests without an API key from one IPv4 address, or from one IPv6 /64."),
    .ifAny("connections", Shape.whole(1...1_000_000), "Concurrent connections."),
    .ifAny(
      "connections_per_address", Shape.whole(0...1_000_000),
      "Concurrent connections from one address; 0 means unlimited."),
    .ifAny("concurrent_requests", Shape.whole(1...100_000), "Requests handled concurrently.")
  ) { _, key, session, address, connections, connectionsPerAddress, requests in
    let standard = RateLimits.standard
    return EdgeConfiguration(
      limits: RateLimits(
        perKey: key ?? standard.perKey, perSession: session ?? standard.perSession,
        perAddress: address ?? standard.perAddress),
      connections: connections, connectionsPerAddress: connectionsPerAddress, concurrentRequests: requests)
  }

  private static let rate = Shape<RateLimit>.form(
    "rate", Entry("rate", Shape.integer(1...highestRate), "Requests a second."),
    .ifAny("burst", Shape.integer(1...highestRate), "The largest burst of requests; by default twice the rate.")
  ) { _, rate, burst in
    RateLimit(rate: Double(rate), burst: Double(burst ?? min(2 * rate, highestRate)))
  }
}

extension ProxyRule {
  static let proxies = Shape.nonEmptyString().parsed(
    "must be an address or a network, such as 10.0.0.7 or 10.0.0.0/8", { AddressBlock($0) }
  ).list(atLeast: 0)

  static let headers = Shape<Header>.choice.described(
    by: Shape<Header>.choice.schema.with("default", .string(ProxyRule().header.rawValue)))
}

extension ConfigurationFile {
  var tls: Shape<TLSFiles> {
    .form(
      "tls", Entry("certificate", file, "Certificate chain in PEM, leaf first."),
      Entry("key", secret, "Its private key in PEM, not encrypted.")
    ) { place, certificate, key in
      let files = TLSFiles(
        certificate: certificate.bytes, key: key, names: certificate.path + " and " + key.name, configuration: path)
      // Loaded once here, so that `--check-config` also finds an unusable certificate or key.
      do throws(StartError) { try files.load() } catch {
        for problem in error.problems { place.faults.add(problem.pointer, problem.detail) }
      }
      return files
    }
  }

  func edge(
    _ limits: EdgeConfiguration, _ tls: TLSFiles?, _ proxies: [AddressBlock], _ header: ProxyRule.Header?,
    _ listen: ListenAddress, isBehindProxy: Bool, _ faults: inout Faults
  ) -> EdgeConfiguration {
    if !listen.isLoopback, !isBehindProxy, tls == nil {
      faults.add(
        "/listen",
        "\(listen) is plain HTTP beyond loopback; set tls, or put a TLS proxy in front and set behind_proxy to true")
    }
    if !isBehindProxy, !proxies.isEmpty || header != nil {
      faults.add(proxies.isEmpty ? "/proxy_header" : "/trusted_proxies", "needs behind_proxy: true")
    }
    var edge = limits
    edge.tls = tls
    edge.proxy = ProxyRule(isBehindProxy: isBehindProxy, trusted: proxies, header: header ?? ProxyRule().header)
    if tls != nil, !isBehindProxy {
      edge.connectionsPerAddress = limits.connectionsPerAddress ?? EdgeConfiguration.connectionsPerPublicAddress
    }
    return edge
  }
}
