import Base
import Mock
import Pages
import Sessions
import TestSupport
import Testing

@testable import App

/// The hosted page over HTTP: the sessions that have one, its data, and how it waits.
@Suite(.onOwnThreads) struct PageRouteTests {
  private static func secret(_ session: JSON) throws -> String { try #require(session["client_secret"]?.string) }

  private func session(
    _ bed: TestBed, by protocols: String..., origin: String? = nil, extra: [JSON.Member] = []
  ) async throws -> APIClient.Reply {
    try await bed.api.post(
      "/v1/verification_sessions",
      TestBed.body(
        .standard, protocols: protocols, extra: extra + (origin.map { [.init("origin", .string($0))] } ?? [])))
  }

  @Test func `a session that its page can ask for has its address, in the creation reply alone`() async throws {
    try await withTestMode { bed in
      let own = bed.mode.baseURL
      for (protocols, origin, hasPage) in [
        (["openid4vp"], nil, true), (["org-iso-mdoc"], own, true), (["org-iso-mdoc"], TestBed.origin, false),
        (["org-iso-mdoc", "openid4vp"], TestBed.origin, true), (["apple-in-app"], nil, false),
        (["iso-18013-5-proximity"], nil, false),
      ] as [([String], String?, Bool)] {
        let reply = try await bed.api.post(
          "/v1/verification_sessions",
          TestBed.body(.standard, protocols: protocols, extra: origin.map { [.init("origin", .string($0))] } ?? []))
        #expect(reply.status == 201, "\(reply.body)")
        let id = try #require(reply.json["id"]?.string)
        let address = "\(own)/verify/test/\(id)#\(try Self.secret(reply.json))"
        #expect(reply.json["url"]?.string == (hasPage ? address : nil), "\(protocols)")
        #expect(try await bed.api.get(TestBed.path(reply.json)).json["url"] == nil)
        let page = try await bed.api.get(TestBed.path(reply.json) + "/page")
        #expect(page.status == (hasPage ? 200 : 404), "\(protocols)")
      }
      #expect(!bed.log.text.contains("vcs_"))
    }
  }

  @Test func `the page is told what is asked and why, and nothing of the answer`() async throws {
    try await withTestMode { bed in
      let extra: [JSON.Member] = [
        .init("purpose", "Because <b>we</b> ask"), .init("return_url", .string(TestBed.origin + "/done?order=17")),
      ]
      let session = try await session(
        bed, by: "org-iso-mdoc", "openid4vp", origin: bed.mode.baseURL, extra: extra
      ).json
      let client = bed.api.with(try Self.secret(session))
      let path = TestBed.path(session) + "/page"
      let page = try await client.get(path)
      #expect(page.status == 200, "\(page.body)")
      let id = session["id"]?.string ?? ""
      #expect(page.json["relying_party"] == "Test Shop" && page.json["purpose"] == "Because <b>we</b> ask")
      #expect(page.json["return_url"]?.string == TestBed.origin + "/done?order=17&session=" + id)
      let document = try #require(page.json["documents"]?.array?.first)
      #expect(document["label"] == "Mobile driving licence" && document["age_over"] == [21])
      let name = try #require(document["elements"]?.array?.first { $0["identifier"] == "family_name" })
      #expect(name["label"] == "Family name" && name["is_kept"] == false && name["required"] == true)
      #expect(page.json["digital_credential_requests"] == session["digital_credential_requests"])
      let link = session["requests"]?.array?.last?["data"]?["authorization_request"]
      #expect(page.json["wallet_link"] == link && link != nil)

      let answer = try await bed.mockAnswer(session, by: "openid4vp")
      #expect(try await bed.postForm(answer["data"] ?? .null, to: session).status == 200)
      let ended = try await client.get(path)
      #expect(ended.json["status"] == "verified" && ended.json["last_error"] == nil)
      #expect(ended.json["wallet_link"] == nil && ended.json["digital_credential_requests"] == [])
      #expect(!ended.body.contains("Morgan"))
    }
  }

  @Test func `a session that is offered both ways is answered once`() async throws {
    try await withTestMode { bed in
      for (first, second) in [("org-iso-mdoc", "openid4vp"), ("openid4vp", "org-iso-mdoc")] {
        let session = try await session(bed, by: "openid4vp", "org-iso-mdoc", origin: bed.mode.baseURL).json
        let answers = [
          "org-iso-mdoc": try await bed.mockAnswer(session, by: "org-iso-mdoc"),
          "openid4vp": try await bed.mockAnswer(session, by: "openid4vp"),
        ]
        for (name, isFirst) in [(first, true), (second, false)] {
          let answer = try #require(answers[name])
          let reply =
            name == "openid4vp"
            ? try await bed.postForm(answer["data"] ?? .null, to: session)
            : try await bed.submit(answer, to: session, as: Self.secret(session))
          #expect(reply.status == (isFirst ? 200 : 409), "\(reply.body)")
          #expect(isFirst || reply.code == "session.already_used")
        }
        #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "verified")
      }
    }
  }

  @Test func `a page that waits is answered when its session ends, and no later`() async throws {
    try await withTestMode { bed in
      let session = try await session(bed, by: "openid4vp").json
      let client = bed.api.with(try Self.secret(session))
      let start = ContinuousClock.now
      async let waiting = client.get(TestBed.path(session) + "/page?wait=25")
      let answer = try await bed.mockAnswer(session)
      #expect(try await bed.postForm(answer["data"] ?? .null, to: session).status == 200)
      #expect(try await waiting.json["status"] == "verified")
      #expect(ContinuousClock.now - start < .seconds(20))
      // A session that has ended makes no request wait.
      #expect(try await client.get(TestBed.path(session) + "/page?wait=25").json["status"] == "verified")
      #expect(ContinuousClock.now - start < .seconds(24))
    }
  }

  @Test func `a page that waits is told at once that a wallet has fetched the request`() async throws {
    try await withTestMode { bed in
      let session = try await session(bed, by: "openid4vp").json
      let client = bed.api.with(try Self.secret(session))
      let path = TestBed.path(session) + "/page"
      #expect(try await client.get(path).json["request_fetched"] == false)
      let start = ContinuousClock.now
      async let waiting = client.get(path + "?wait=25")
      let uri = session["requests"]?.array?.first?["data"]?["request_uri"]?.string ?? ""
      let request = "/v1/wallet/" + (uri.split(separator: "/v1/wallet/").last ?? "")
      // The page may not wait yet.
      for _ in 0..<20 where bed.mode.server.updater.inForce.current.state.waits.count() == 0 {
        try await Task.sleep(for: .milliseconds(100))
      }
      #expect(try await bed.api.with(nil).get(request).status == 200)
      let told = try await waiting.json
      #expect(told["request_fetched"] == true && told["status"] == "requires_input")
      #expect(ContinuousClock.now - start < .seconds(20))
    }
  }

  @Test func `a page that waits reads nothing, however many wait`() async throws {
    try await withTestMode { bed in
      let session = try await session(bed, by: "openid4vp").json
      let path = TestBed.path(session) + "/page?wait=3"
      func reads(_ operation: String) async throws -> Int {
        let line = try await bed.api.with(nil).get("/metrics").body.split(separator: "\n").first {
          $0.hasPrefix("mdoc_store_operation_duration_seconds_count{operation=\"\(operation)\"}")
        }
        return line.flatMap { $0.split(separator: " ").last }.flatMap { Int($0) } ?? 0
      }
      let before = try await reads("session")
      try await withThrowingTaskGroup(of: JSON?.self) { group in
        for _ in 0..<4 { group.addTask { try await bed.api.get(path).json["status"] } }
        for try await status in group { #expect(status == "requires_input") }
      }
      // Each request reads its session at its start and before its reply.
      #expect(try await reads("session") == before + 8)
      #expect(try await reads("unended") > 0)
    }
  }

  @Test func `a page beyond its session's share is answered at once, and the others when the session ends`()
    async throws
  {
    try await withTestMode { bed in
      let waits = bed.waits
      let session = try await session(bed, by: "openid4vp").json
      let path = TestBed.path(session) + "/page?wait=25"
      try await withThrowingTaskGroup(of: JSON?.self) { group in
        for _ in 0..<4 { group.addTask { try await bed.api.get(path).json["status"] } }
        #expect(await eventually { waits.count() == 4 })
        let start = ContinuousClock.now
        let reply = try await bed.api.get(path)
        #expect(reply.status == 200 && reply.json["status"] == "requires_input")
        #expect(ContinuousClock.now - start < .seconds(20) && waits.count() == 4)
        #expect(try await bed.api.post(TestBed.path(session) + "/cancel").status == 200)
        for try await status in group { #expect(status == "canceled") }
        #expect(ContinuousClock.now - start < .seconds(20) && waits.count() == 0)
      }
    }
  }

  @Test func `a session that ends at another node of the same store wakes its page`() async throws {
    try await withFolder { folder in
      let store = folder + "/shared.sqlite"
      try await withTestMode(store: store) { here in
        try await withTestMode(store: store) { there in
          let session = try await session(here, by: "openid4vp").json
          let start = ContinuousClock.now
          async let waiting = here.api.get(TestBed.path(session) + "/page?wait=25")
          #expect(await eventually { here.waits.count() == 1 })
          #expect(try await there.api.post(TestBed.path(session) + "/cancel").status == 200)
          #expect(try await waiting.json["status"] == "canceled")
          #expect(ContinuousClock.now - start < .seconds(20))
        }
      }
    }
  }

  @Test func `a session that expires wakes its page`() async throws {
    try await withTestMode { bed in
      let session = try await session(bed, by: "openid4vp").json
      let start = ContinuousClock.now
      async let waiting = bed.api.get(TestBed.path(session) + "/page?wait=25")
      #expect(await eventually { bed.waits.count() == 1 })
      bed.clock.advance(Limits.sessionLifetime)
      #expect(try await waiting.json["status"] == "expired")
      #expect(ContinuousClock.now - start < .seconds(20))
    }
  }

  /// Each closed socket would keep one of the 32 connections for 25 seconds.
  @Test func `pages that leave while they wait leave their connections to others`() async throws {
    try await withFolder { folder in
      let folder = try LiveFolder(folder)
      try folder.writeReader()
      try folder.writeConfiguration([
        "limits": ["connections": 32], "public_url": "https://id.example",
        "relying_parties": [LiveFolder.partyWithReader([:], [.init("page", ["name": "Shop"])])],
      ])
      try await folder.serve { server, api, _ in
        let port = server.listen.port
        let body = TestBed.body(.standard, protocols: ["openid4vp"])
        for _ in 0..<6 {
          let reply = try await api.post("/v1/verification_sessions", body)
          #expect(try await api.get(TestBed.path(reply.json) + "/page").status == 200)
          let secret = try Self.secret(reply.json)
          try await blocking {
            for _ in 0..<10 {
              let client = try RawClient(port: port)
              client.send(
                "GET \(TestBed.path(reply.json))/page?wait=25 HTTP/1.1\r\nHost: a\r\n"
                  + "Authorization: Bearer \(secret)\r\n\r\n")
            }
          }
          #expect(try await api.with(nil).get("/healthz").status == 200)
        }
        let waits = server.updater.inForce.current.state.waits
        #expect(await eventually { waits.count() == 0 })
      }
    }
  }

  @Test func `a page waits for no more than it asked, and never beyond the bounds`() async throws {
    try await withTestMode { bed in
      let session = try await session(bed, by: "openid4vp").json
      let path = TestBed.path(session) + "/page"
      let start = ContinuousClock.now
      let reply = try await bed.api.get(path + "?wait=1")
      let elapsed = (ContinuousClock.now - start) / .milliseconds(1)
      #expect(reply.json["status"] == "requires_input")
      #expect(ContinuousClock.now - start >= .seconds(1))
      // A deliberate wait does not count as a slow reply.
      guard case .double(let milliseconds) = bed.log.line(of: reply)?["duration_ms"] else {
        Issue.record("no duration in the log")
        return
      }
      #expect(milliseconds < elapsed - 900)
      for wrong in ["0", "26", "-1", "1.5", "x", "", "01", "1&wait=2"] {
        #expect(try await bed.api.get(path + "?wait=" + wrong).code == "api.invalid_request", "\(wrong)")
      }
    }
  }

  @Test func `a page is for its own session's secret, and gone with the session`() async throws {
    try await withTestMode { bed in
      let session = try await session(bed, by: "openid4vp").json
      let other = try await self.session(bed, by: "openid4vp").json
      for part in ["/page", "/qr_code"] {
        let path = TestBed.path(session) + part
        #expect(try await bed.api.with(Self.secret(other)).get(path).code == "session.not_found")
        #expect(try await bed.api.with(nil).get(path).code == "api.unauthenticated")
      }
      #expect(try await bed.api.post(TestBed.path(session) + "/redact").status == 200)
      #expect(try await bed.api.get(TestBed.path(session) + "/page").code == "session.redacted")
      #expect(try await bed.api.with(Self.secret(session)).get(TestBed.path(session) + "/page").status == 401)
    }
  }

  @Test func `the QR code is an image, until the session is used`() async throws {
    try await withTestMode { bed in
      let session = try await session(bed, by: "openid4vp").json
      let path = TestBed.path(session) + "/qr_code"
      let image = try await bed.api.with(Self.secret(session)).get(path)
      #expect(image.status == 200 && image.header("Content-Type") == "image/svg+xml")
      let link = try #require(session["requests"]?.array?.first?["data"]?["authorization_request"]?.string)
      #expect(image.body == QRCode(link)?.svg)
      let answer = try await bed.mockAnswer(session)
      #expect(try await bed.postForm(answer["data"] ?? .null, to: session).status == 200)
      #expect(try await bed.api.get(path).code == "session.already_used")
      let web = try await self.session(bed, by: "org-iso-mdoc", origin: bed.mode.baseURL).json
      #expect(try await bed.api.get(TestBed.path(web) + "/qr_code").code == "api.not_found")
    }
  }

  @Test(
    "what a page cannot do is refused",
    arguments: [
      ("return_url", "https://evil.example/", "/return_url", "api.origin_not_allowed"),
      ("return_url", "https://shop.example@evil.example/", "/return_url", "api.origin_not_allowed"),
      ("return_url", "https://shop.example/#done", "/return_url", "api.invalid_request"),
      ("return_url", "javascript:alert(1)", "/return_url", "api.invalid_request"),
      ("return_url", 1, "/return_url", "api.invalid_request"),
      ("purpose", "", "/purpose", "api.invalid_request"),
      ("purpose", .string(String(repeating: "a", count: 201)), "/purpose", "api.invalid_request"),
    ] as [(String, JSON, String, String)])
  func refused(_ member: String, _ value: JSON, _ pointer: String, _ code: String) async throws {
    try await withTestMode { bed in
      let reply = try await session(bed, by: "openid4vp", extra: [.init(member, value)])
      #expect(reply.code == code && reply.errors == [pointer], "\(reply.body)")
    }
  }

  @Test func `a session without a page takes no wishes for one`() async throws {
    try await withTestMode { bed in
      let reply = try await session(
        bed, by: "org-iso-mdoc", origin: TestBed.origin, extra: [.init("purpose", "Because")])
      #expect(reply.code == "api.invalid_request" && reply.errors == ["/purpose"], "\(reply.body)")
    }
  }

  @Test func `the page loads nothing from elsewhere, and only the relying party may frame it`() async throws {
    try await withTestMode { bed in
      let client = bed.api.with(nil)
      let id = try #require(try await bed.createSession()["id"]?.string)
      let page = try await client.get("/verify/test/\(id)?lang=de")
      #expect(page.status == 200 && page.header("Content-Type") == "text/html; charset=utf-8")
      let policy = try #require(page.header("Content-Security-Policy"))
      #expect(policy.hasPrefix("default-src 'none'; script-src 'self'; style-src 'self';"))
      #expect(
        !policy.contains("unsafe") && policy.hasSuffix("frame-ancestors " + bed.mode.origins.joined(separator: " ")))
      #expect(page.header("Referrer-Policy") == "no-referrer")
      #expect(!page.body.contains("style=") && !page.body.contains("onclick"))
      for file in PageAsset.files {
        let reply = try await client.get("/assets/\(file.name)")
        #expect(reply.status == 200 && reply.header("Content-Type") == file.mediaType, "\(file.name)")
      }
      let script = try await client.get("/v1/js/mdoc.js")
      #expect(script.status == 200 && script.header("Access-Control-Allow-Origin") == "*")
      for path in ["/verify/nobody/\(id)", "/verify/nobody/logo", "/verify/test/logo", "/assets/none.js"] {
        #expect(try await client.get(path).status == 404, "\(path)")
      }
    }
  }

  /// The headers name the sites that may frame the page, so another relying party's path has no page.
  @Test func `a page is that of its own relying party's session, and every other path answers alike`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      let bank: JSON = ["id": "bank", "origins": ["https://bank.example"], "page": ["name": "Bank"]]
      try folder.writeConfiguration([
        "public_url": "https://id.example",
        "relying_parties": [LiveFolder.party.with(["name": "Shop"], at: "/page"), bank],
      ])
      try await folder.serve { _, api, _ in
        let made = try await api.post("/v1/verification_sessions", TestBed.body(.standard))
        let id = try #require(made.json["id"]?.string, "\(made.body)")
        let page = try await api.with(nil).get("/verify/shop/\(id)")
        #expect(page.status == 200)
        #expect(page.header("Content-Security-Policy")?.hasSuffix("frame-ancestors https://shop.example") == true)
        var answers: Set<String> = []
        for wrong in ["bank/\(id)", "bank/vs_0000000000000000000000", "shop/vs_0000000000000000000000", "shop/vs_x"] {
          let reply = try await api.with(nil).get("/verify/\(wrong)")
          let origin = "https://\(wrong.prefix(4)).example"
          #expect(reply.status == 404 && !reply.body.contains("script"), "\(wrong)")
          #expect(reply.header("Content-Security-Policy")?.hasSuffix("frame-ancestors \(origin)") == true)
          answers.insert(reply.body.replacing(reply.header("Request-Id") ?? "-", with: ""))
        }
        #expect(answers.count == 1)
      }
    }
  }
}
