import Base
import HTTP

/// What stands between the network and the application: rates, proxies, TLS, and what is told of the load.
struct Edge: Sendable {
  let limiter: RateLimiter
  let proxy: ProxyRule
  /// Nil where the server speaks plain HTTP.
  let tls: TLSIdentities?
  let gauges = TransportGauges()

  /// Test mode's: no limits, no TLS.
  static var open: Edge { Edge(limiter: RateLimiter(.none), proxy: ProxyRule(), tls: nil) }

  private init(limiter: RateLimiter, proxy: ProxyRule, tls: TLSIdentities?) {
    self.limiter = limiter
    self.proxy = proxy
    self.tls = tls
  }

  init(_ configuration: EdgeConfiguration) throws(StartError) {
    let tls = try configuration.tls.map { files throws(StartError) in
      do throws(Schema.Fault) { return try files.identities() } catch {
        throw .configuration(files.configuration, [error])
      }
    }
    self.init(limiter: RateLimiter(configuration.limits), proxy: configuration.proxy, tls: tls)
  }

  /// Takes over what a configuration that was read anew says of rates and of the TLS certificate: all of it, or where the
  /// certificate cannot be shown, nothing. Whether there is TLS at all, and the rest, is decided at the start.
  func adopt(_ configuration: EdgeConfiguration) throws(StartError) {
    if let files = configuration.tls, let tls {
      do throws(Schema.Fault) { try files.replace(in: tls) } catch {
        throw .configuration(files.configuration, [error])
      }
    }
    limiter.adopt(configuration.limits)
  }
}
