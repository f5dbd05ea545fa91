import Base
import Glibc
import HTTP
import Sessions
import TestSupport
import Testing

@testable import App

/// `tls`, `limits`, `trusted_proxies`, `proxy_header` of the configuration, and a live server that has them.
@Suite(.onOwnThreads) struct EdgeConfigurationTests {
  private static func load(_ path: String, _ changes: [String: JSON]) throws -> EdgeConfiguration {
    try LiveFolder(path).writeConfiguration(changes)
    return try ConfigurationLoader(path: path + "/mdoc.json").load().edge
  }

  @Test func `what is not said is the default`() async throws {
    try await withFolder { path in
      let edge = try Self.load(path, [:])
      #expect(edge.limits == .standard)
      #expect(edge.tls == nil)
      #expect(edge.proxy == ProxyRule())
      let some = try Self.load(
        path, ["limits": ["per_key": ["rate": 7], "per_address": false, "concurrent_requests": 9, "connections": 99]])
      #expect(some.limits.perKey == RateLimit(rate: 7, burst: 14))
      #expect(some.limits.perSession == RateLimits.standard.perSession)
      #expect(some.limits.perAddress == nil)
      var options = HTTPServerConfiguration()
      some.apply(to: &options)
      #expect((options.maxRunning, options.maxConnections, options.maxConnectionsPerAddress) == (9, 99, 0))
    }
  }

  static let faults: [([String: JSON], String)] = [
    (["limits": 1], "/limits"), (["limits": ["per_user": 1]], "/limits/per_user"),
    (["limits": ["per_key": true]], "/limits/per_key"), (["limits": ["per_key": [:]]], "/limits/per_key/rate"),
    (["limits": ["per_key": ["rate": 0]]], "/limits/per_key/rate"),
    (["limits": ["per_key": ["rate": 1, "burst": 0]]], "/limits/per_key/burst"),
    (["limits": ["connections": 0]], "/limits/connections"),
    (["limits": ["concurrent_requests": "many"]], "/limits/concurrent_requests"),
    (["trusted_proxies": ["10.0.0.0/8"]], "/trusted_proxies"),
    (["proxy_header": "Forwarded"], "/proxy_header"),
    (["behind_proxy": true, "trusted_proxies": ["proxy"]], "/trusted_proxies/0"),
    (["behind_proxy": true, "proxy_header": "Via"], "/proxy_header"),
    (["tls": ["certificate": "tls.pem"]], "/tls/key"), (["tls": ["key": "tls.key"]], "/tls/certificate"),
    (["tls": ["certificate": "nowhere.pem", "key": "tls.key"]], "/tls/certificate"),
    (["tls": ["certificate": "tls.pem", "key": "merchant.pem"]], "/tls"),
    (["tls": ["certificate": "tls.key", "key": "tls.key"]], "/tls"),
  ]

  @Test(arguments: faults)
  func `a fault names file and member`(changes: [String: JSON], pointer: String) async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let tls = try TLSFixture()
      try folder.write("tls.pem", tls.certificate)
      try folder.write("tls.key", tls.key)
      try folder.writeConfiguration(changes)
      let error = #expect(throws: StartError.self) { try ConfigurationLoader(path: path + "/mdoc.json").load() }
      #expect(error?.message.hasPrefix("\(path)/mdoc.json: \(pointer):") == true, "\(error?.message ?? "")")
      #expect(error?.exitCode == 78)
    }
  }

  @Test func `a live server speaks TLS, says so, and may then listen anywhere`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let tls = try TLSFixture()
      try folder.write("tls.pem", tls.certificate)
      try folder.write("tls.key", tls.key)
      let files: JSON = ["certificate": "tls.pem", "key": "tls.key"]
      try folder.writeConfiguration(["tls": files, "listen": "0.0.0.0:8443"])
      let configuration = try ConfigurationLoader(path: folder.configurationFile).load()
      #expect(configuration.listen.address == "0.0.0.0")
      #expect(configuration.edge.connectionsPerAddress == 128)
      chmod(path + "/tls.key", 0o644)
      let error = #expect(throws: StartError.self) { try ConfigurationLoader(path: folder.configurationFile).load() }
      #expect(error?.problems.map(\.pointer) == ["/tls/key"])
      chmod(path + "/tls.key", 0o600)
      try folder.writeConfiguration(["tls": files])
      try await folder.serve { server, _, _ in
        #expect(server.baseURL.hasPrefix("https://127.0.0.1:"))
        let client = TLSClient(port: server.listen.port, authority: tls.authority)
        let answer = try await blocking {
          try client.ask("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        }
        #expect(answer.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
        #expect(answer.text.contains("Strict-Transport-Security: max-age=31536000\r\n"))
        let expiry = "mdoc_tls_certificate_expiry_timestamp_seconds \(tls.notAfter.secondsSince1970)\n"
        #expect(answer.text.contains(expiry))
      }
    }
  }

  @Test func `a configuration read anew brings its certificate and its limits`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let (old, new) = (try TLSFixture(), try TLSFixture())
      try folder.write("tls.pem", old.certificate)
      try folder.write("tls.key", old.key)
      let changes: [String: JSON] = ["tls": ["certificate": "tls.pem", "key": "tls.key"]]
      try folder.writeConfiguration(changes)
      try await folder.serve { server, _, _ in
        try folder.write("tls.pem", new.certificate)
        // The key does not belong to it yet: nothing changes.
        let error = #expect(throws: StartError.self) {
          try ConfigurationLoader(path: folder.configurationFile).load()
        }
        #expect(error?.message.contains("do not match") == true)
        try folder.write("tls.key", new.key)
        try server.edge.adopt(ConfigurationLoader(path: folder.configurationFile).load().edge)
        let client = TLSClient(port: server.listen.port, authority: new.authority)
        let answer = try await blocking {
          try client.ask("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        }
        #expect(answer.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
      }
    }
  }
}

@Suite struct ListenAddressTests {
  @Test(arguments: ["127.0.0.1:8080", "0.0.0.0:0", "[::1]:8080", "[::]:65535"])
  func `a numeric address with a port is one`(text: String) { #expect(ListenAddress(text)?.description == text) }

  @Test(arguments: [
    "", ":8080", "8080", "localhost:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80",
    "[127.0.0.1]:80", "[::1]", "127.0.0.1:-1", "127.0.0.1:+1", "127.1:80",
  ])
  func `anything else is none`(text: String) { #expect(ListenAddress(text) == nil) }

  @Test func `loopback is 127/8 and ::1`() {
    for address in ["127.0.0.1", "127.9.9.9", "::1"] { #expect(ListenAddress.isLoopback(address)) }
    for address in ["0.0.0.0", "128.0.0.1", "::", "::2", "::ffff:127.0.0.1", "10.0.0.1", "", "localhost"] {
      #expect(!ListenAddress.isLoopback(address))
    }
  }

  @Test func `origins are those that a browser writes`() {
    for origin in ["https://shop.example", "https://shop.example:8443", "http://localhost:3000", "http://127.0.0.1"] {
      #expect(WebOrigin.isValid(origin))
    }
    for origin in [
      "*", "null", "", "https://", "https://shop.example/", "https://Shop.example", "http://shop.example",
      "https://a:0", "https://a:080", "https://a:1:2", "https://a@b", "ftp://a", "https://a..b", "https://*.a",
    ] {
      #expect(!WebOrigin.isValid(origin), "\(origin)")
    }
  }

  @Test func `an Android app's origin is the hash of a certificate in its one form`() {
    let hash = "E8lSX1zJMPBZ9G_zpnfxfmfh-d0q2qEYz-2bgNeUKCU"
    #expect(AndroidOrigin.isValid("android:apk-key-hash:" + hash))
    for origin in [
      "", hash, "android:apk-key-hash:", "android:apk-key-hash:\(hash)=", "android:apk-key-hash:\(hash.dropLast())V",
      "android:apk-key-hash:\(hash.dropLast())", "android:apk-key-hash:\(hash)A", "Android:apk-key-hash:\(hash)",
      "android:apk-key-hash:" + hash.replacing("_", with: "/"), "android:apk-key-hash-sha256:\(hash)",
      "android:apk-key-hash:13:C9:52", "android:apk-key-hash:\(hash)/", "ios:bundle-id:example.shop",
    ] {
      #expect(!AndroidOrigin.isValid(origin), "\(origin)")
    }
  }
}
