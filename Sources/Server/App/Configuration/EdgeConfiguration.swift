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
