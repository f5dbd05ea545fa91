import Base
import Cryptography
import Mock
import Sessions
import TestSupport
import Testing

@testable import App

/// `/status`: its content, and who may see it.
@Suite(.onOwnThreads) struct StatusRouteTests {
  @Test func `it tells of answers, time, trust, certificates and the store, and of no person`() async throws {
    try await withTestMode { bed in
      for variant in ["good", "good", "element-changed"] {
        let session = try await bed.createSession()
        _ = try await bed.submit(try await bed.mockAnswer(session, variant: variant), to: session)
      }
      #expect(try await bed.api.with(nil).get("/assets/status.css").status == 200)
      let page = try await bed.api.with(nil).get("/status")
      #expect(page.status == 200 && page.header("Content-Type") == "text/html; charset=utf-8")
      for text in [
        "<p class=\"state good\">ready</p>", "test mode", "<dt>verified</dt><dd>2</dd>", "<dt>failed</dt><dd>1</dd>",
        "<dt>sessions in the last hour</dt><dd>3</dd>", "<td>mdoc.digest.mismatch</td>",
        "<td>A returned element does not match its signed digest</td>", "<td>reader certificates</td><td>1</td>",
        "<td>record_outcome</td><td>3</td><td>0</td>", "<td>node</td><td>3</td>",
        "<td>/v1/verification_sessions/{id}/submit</td><td>3</td>", "<a href=\"\">Load again</a>",
      ] {
        #expect(page.body.contains(text), "\(text)")
      }
      for secret in ["Morgan", "vs_", bed.mode.apiKey, "<script", "style=", "onclick", "http-equiv", "<td>/assets/"] {
        #expect(!page.body.contains(secret), "\(secret)")
      }
      let policy = try #require(page.header("Content-Security-Policy"))
      #expect(policy.hasPrefix("default-src 'none'; style-src 'self';") && !policy.contains("unsafe"))
    }
  }

  @Test func `it is for this machine or for admin`() async throws {
    try await withTestMode { bed in
      let proxied = ["X-Forwarded-For": "203.0.113.7"]
      let stranger = try await bed.api.with(nil).get("/status", proxied)
      let admin = try await bed.api.get("/status", proxied)
      #expect(stranger.status == 401 && admin.status == 200)
    }
  }

  /// A page of another site, whose name was made to resolve to this machine, also calls from this machine.
  @Test(arguments: ["/status", "/metrics"])
  func `this machine is meant by name alone`(path: String) async throws {
    try await withTestMode { bed in
      let api = bed.api.with(nil)
      for host in ["evil.example", "evil.example:\(bed.api.port)", "localhost.evil.example", "10.0.0.1"] {
        let (stranger, admin) = (try await api.get(path, ["Host": host]), try await bed.api.get(path, ["Host": host]))
        #expect(stranger.status == 401 && admin.status == 200, "\(host)")
      }
      for host in ["127.0.0.1", "localhost:8080", "[::1]:8080"] {
        let local = try await api.get(path, ["Host": host])
        #expect(local.status == 200, "\(host)")
      }
    }
  }

  @Test func `an admin of one relying party sees that one's figures, and reloads nothing`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let hash = { (key: String) in JSON.string(Hex.encode(HashAlgorithm.sha256.hash(Array(key.utf8)))) }
      let shop = LiveFolder.party.with(
        [
          ["sha256": hash("shop-admin"), "scopes": ["admin"]],
          ["sha256": hash("shop-operator"), "scopes": ["server:operate"]],
          ["sha256": hash(LiveFolder.apiKey), "scopes": ["sessions:write"]],
        ], at: "/api_keys")
      let bank: JSON = [
        "id": "bank", "origins": ["https://bank.example"],
        "api_keys": [["sha256": hash("bank-admin"), "scopes": ["admin"]]],
      ]
      try folder.writeConfiguration(["relying_parties": [shop, bank]])
      try await folder.serve { _, api, _ in
        #expect(try await api.post("/v1/verification_sessions", TestBed.body(.standard)).status == 201)
        let proxied = ["X-Forwarded-For": "203.0.113.7"]
        let all = try await api.with("shop-operator").get("/status", proxied).body
        let own = try await api.with("shop-admin").get("/status", proxied).body
        let other = try await api.with("bank-admin").get("/status", proxied).body
        #expect(all.contains("<h2>Responses</h2>") && all.contains("<td>API keys</td><td>4</td>"))
        for page in [own, other] {
          #expect(!page.contains("<h2>Responses</h2>") && !page.contains("<h2>Store and audit</h2>"))
        }
        #expect(own.contains("<dt>open</dt><dd>1 of ") && own.contains("<td>API keys</td><td>3</td>"))
        #expect(other.contains("<dt>open</dt><dd>0 of ") && other.contains("<td>API keys</td><td>1</td>"))
        for reload in ["/v1/config/reload", "/v1/trust/reload"] {
          #expect(try await api.with("shop-admin").post(reload).code == "api.forbidden")
          #expect(try await api.with("shop-operator").post(reload).status == 200)
        }
      }
    }
  }

  @Test func `without a valid anchor it says so first`() async throws {
    try await withTestMode { bed in
      bed.clock.advance(60 * 366 * 86_400)
      let page = try await bed.api.with(nil).get("/status")
      #expect(page.body.contains("<p class=\"state bad\">no trust anchor is valid</p>"))
      #expect(page.body.contains("<dt>anchors valid now</dt><dd>0</dd>"))
    }
  }
}

@Suite struct ActivityTests {
  @Test func `an hour is remembered, minute by minute`() {
    var activity = Activity()
    activity.note(minute: 0) { $0.created += 1 }
    activity.note(minute: 5) { $0.verified += 2 }
    activity.note(minute: 5) { $0.failed += 1 }
    let early = activity.last(at: 5)
    #expect(early.count == 60 && early[59] == .init(verified: 2, failed: 1) && early[54].created == 1)
    #expect(early[..<54].allSatisfy { $0 == .init() })
    let later = activity.last(at: 59)
    #expect(later[0].created == 1 && later[5].verified == 2)
    #expect(activity.last(at: 60).reduce(0) { $0 + $1.created } == 0)
    #expect(activity.last(at: 100_000).allSatisfy { $0 == .init() })
  }

  @Test func `a minute of an hour ago is not this one`() {
    var activity = Activity()
    activity.note(minute: 3) { $0.verified += 1 }
    activity.note(minute: 63) { $0.failed += 1 }
    #expect(activity.last(at: 63)[59] == .init(failed: 1))
    // A late count from another thread is still counted for a minute of the hour.
    activity.note(minute: 62) { $0.failed += 1 }
    #expect(activity.last(at: 63).reduce(0) { $0 + $1.failed } == 2)
  }
}

@Suite struct QuantileTests {
  @Test func `a quantile is the bound within which that part lies`() {
    var histogram = Histogram()
    for _ in 0..<98 { histogram.add(0.004) }
    for _ in 0..<2 { histogram.add(0.3) }
    #expect(histogram.quantile(0.5) == 0.005 && histogram.quantile(0.98) == 0.005)
    #expect(histogram.quantile(0.99) == 0.5)
    histogram.add(100)
    #expect(histogram.quantile(1) == nil)
  }
}
