import Base
import Mock
import Sessions
import TestSupport
import Testing

@testable import App

/// The web protocols from the request to the result, over HTTP with the mock wallet.
@Suite(.onOwnThreads) struct WebProtocolTests {
  static let web = ProtocolFamily.web.protocolNames
  static let redirect = WalletRouteTests.protocols

  @Test(arguments: web + redirect)
  func `a good answer is verified`(name: String) async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: name)
      let answer = try await bed.mockAnswer(session)
      #expect(answer["protocol"]?.string == name)
      let reply = try await bed.submit(answer, to: session)
      #expect(reply.json["status"] == "verified", "\(reply.body)")
      let document = reply.json["result"]?["documents"]?.array?.first
      #expect(document?["elements"]?["org.iso.18013.5.1"]?["given_name"] == "Ada")
      #expect(document?["age_over"]?.array?.first?["answer"] == true)
      #expect(try await bed.submit(answer, to: session).code == "session.already_used")
    }
  }

  private static let app = "android:apk-key-hash:E8lSX1zJMPBZ9G_zpnfxfmfh-d0q2qEYz-2bgNeUKCU"

  /// OpenID4VP 1.0, A.2: Android tells wallets this origin of an app.
  @Test(arguments: web)
  func `an Android app asks as well as a page`(name: String) async throws {
    try await withTestMode(origins: [TestBed.origin, Self.app]) { bed in
      let session = try await bed.createSession(by: name, origin: Self.app)
      let answer = try await bed.mockAnswer(session)
      let reply = try await bed.submit(answer, to: session, as: session["client_secret"]?.string)
      #expect(reply.json["status"] == "verified", "\(reply.body)")
      // A response to a page of the relying party is not valid for its app.
      let other = try await bed.createSession(by: name, origin: Self.app)
      let data = try #require(other["requests"]?.array?.first?["data"])
      let stray = try MockWallet(authority: bed.mode.authority).answer(
        digitalCredential: name, data: data, origin: TestBed.origin, at: bed.clock.now)
      let failed = try await bed.submit(["protocol": .string(name), "data": stray.data], to: other)
      #expect(failed.json["status"] == "failed")
      if name == "openid4vp-v1-signed" {
        let parts = data["request"]?.string?.split(separator: ".") ?? []
        let claims = try JSON(parsing: try #require(Base64.decodeURLSafe(String(parts[1]))))
        #expect(claims["expected_origins"] == [.string(Self.app)])
      }
    }
  }

  @Test func `an app's origin is none of a page`() async throws {
    try await withTestMode(origins: [TestBed.origin, Self.app]) { bed in
      let session = try await bed.createSession()
      let page = try await bed.api.with(nil).get("/verify/test/\(session["id"]?.string ?? "")")
      #expect(page.header("Content-Security-Policy")?.hasSuffix("frame-ancestors \(Self.web(of: bed))") == true)
      let headers = ["Origin": Self.app, "Access-Control-Request-Method": "GET"]
      let preflight = try await bed.api.with(nil).call("OPTIONS", TestBed.path(session), nil, headers)
      #expect(preflight.header("Access-Control-Allow-Origin") == nil)
      let read = try await bed.api.with(session["client_secret"]?.string).get(TestBed.path(session), headers)
      #expect(read.status == 200 && read.header("Access-Control-Allow-Origin") == nil)
      for member in ["redirect_uri", "return_url"] {
        for address in [Self.app + "/a://b", Self.app + "?a://b", Self.app] {
          let body = TestBed.body(
            .standard, protocols: ["openid4vp"], extra: [.init(member, .string(address))])
          let reply = try await bed.api.post("/v1/verification_sessions", body)
          #expect(reply.status == 400 && reply.errors == ["/" + member], "\(reply.body)")
        }
      }
    }
  }

  private static func web(of bed: TestBed) -> String {
    bed.mode.origins.filter { $0.hasPrefix("http") }.joined(separator: " ")
  }

  /// Every curve that issuers and devices sign on, by every protocol.
  @Test(arguments: web + redirect)
  func `documents of every algorithm are verified`(name: String) async throws {
    let curves = ["p256", "p384", "p521", "brainpoolp256r1", "brainpoolp320r1", "brainpoolp384r1", "brainpoolp512r1"]
    let variants = (curves + ["ed25519", "ed448"]).flatMap { ["issuer-\($0)", "device-\($0)"] }
    try await withTestMode { bed in
      for variant in variants + ["digests-sha-384", "digests-sha-512"] {
        let session = try await bed.createSession(by: name)
        let reply = try await bed.submit(bed.mockAnswer(session, variant: variant), to: session)
        #expect(reply.json["status"] == "verified", "\(variant): \(reply.body)")
      }
    }
  }

  /// The key of an encrypted response is also the reader's key, for devices that make a MAC.
  @Test(arguments: web.dropFirst() + redirect)
  func `a device's MAC is as good as its signature`(name: String) async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: name)
      let wallet = MockWallet(authority: bed.mode.authority)
      let request = try #require(session["requests"]?.array?.first?["data"])
      let answer: MockWebResponse
      if Self.redirect.contains(name) {
        let object = try await bed.api.with(nil).get(TestBed.walletPath(session, "request"))
        answer = try wallet.answer(
          requestObject: Array(object.body.utf8), authentication: .mac, at: bed.clock.now)
      } else {
        answer = try wallet.answer(
          digitalCredential: name, data: request, origin: TestBed.origin, authentication: .mac, at: bed.clock.now)
      }
      let reply = try await bed.submit(["protocol": .string(name), "data": answer.data], to: session)
      #expect(reply.json["status"] == "verified", "\(reply.body)")
      let document = reply.json["result"]?["documents"]?.array?.first
      #expect(document?["device_authentication"] == "mac")
    }
  }

  @Test(arguments: web)
  func `of several protocols any one is answered, once, each with its own nonce`(name: String) async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: Self.web[0], Self.web[1], Self.web[2], Self.web[3])
      #expect(session["digital_credential_requests"] == session["requests"])
      #expect(session["requests"]?.array?.map { $0["protocol"]?.string } == Self.web)
      let first = try await bed.mockAnswer(session, by: name)
      var others: [JSON] = []
      for other in Self.web { others.append(try await bed.mockAnswer(session, by: other)) }
      #expect(try await bed.submit(first, to: session).json["status"] == "verified")
      for answer in others { #expect(try await bed.submit(answer, to: session).code == "session.already_used") }
    }
  }

  @Test(arguments: web)
  func `of fifty answers at once exactly one is verified`(name: String) async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: name)
      let answer = try await bed.mockAnswer(session)
      let replies = try await withThrowingTaskGroup(of: APIClient.Reply.self) { group in
        for _ in 0..<50 { group.addTask { try await bed.submit(answer, to: session) } }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(replies.count { $0.status == 200 && $0.json["status"] == "verified" } == 1)
      #expect(replies.count { $0.status == 409 && $0.code == "session.already_used" } == 49)
    }
  }

  /// D18.
  @Test(arguments: web.dropFirst() + redirect)
  func `a wallet's error cancels the session`(name: String) async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: name)
      let answer = try await bed.mockAnswer(session)
      let refusal: JSON = ["protocol": .string(name), "data": ["error": "access_denied", "error_description": "x"]]
      let reply = try await bed.submit(refusal, to: session)
      #expect(reply.json["status"] == "canceled")
      #expect(reply.json["last_error"]?["code"] == "wallet.access_denied")
      #expect(reply.json["result"] == .null)
      #expect(try await bed.submit(answer, to: session).code == "session.canceled")
      let metrics = try await bed.api.get("/metrics")
      #expect(
        metrics.body.contains("mdoc_verifications_total{outcome=\"canceled\",code=\"wallet.access_denied\"} 1\n"))
    }
  }

  @Test func `what is asked is asked from the page's origin alone`() async throws {
    try await withTestMode { bed in
      let refused = try await bed.api.post(
        "/v1/verification_sessions",
        TestBed.body(.standard, protocols: Self.web, extra: [.init("origin", "https://evil.example")]))
      #expect(refused.code == "api.origin_not_allowed")
      #expect(refused.errors == ["/origin"])
      let own = try await bed.createSession(by: Self.web[0], origin: bed.mode.baseURL)
      #expect(try await bed.submit(bed.mockAnswer(own), to: own).json["status"] == "verified")
    }
  }

  /// Nonces, states, keys and secrets of every protocol stay out of the log and the metrics.
  @Test func `nothing secret is logged`() async throws {
    try await withTestMode { bed in
      var secrets: [String] = [bed.mode.apiKey]
      for name in Self.web + Self.redirect {
        let session = try await bed.createSession(by: name)
        let answer = try await bed.mockAnswer(session)
        let wrong: JSON = ["protocol": .string(name), "data": ["response": "AAAA"]]
        _ = try await bed.submit(wrong, to: session)
        _ = try await bed.submit(answer, to: session)
        secrets += Self.texts(in: session["requests"] ?? .null) + Self.texts(in: answer["data"] ?? .null)
        secrets.append(try #require(session["client_secret"]?.string))
      }
      // Names and short words are not secret.
      let long = Set(secrets.filter { $0.utf8.count > 20 && !bed.mode.baseURL.contains($0) })
      #expect(long.count > 10)
      let metrics = try await bed.api.get("/metrics")
      for text in [bed.log.text, metrics.body] {
        #expect(long.filter { text.contains($0) } == [])
      }
    }
  }

  /// Every text in some JSON, and the texts of the JSON inside signed requests.
  private static func texts(in json: JSON) -> [String] {
    if let text = json.string {
      let parts = text.split(separator: ".").compactMap { Base64.decodeURLSafe(String($0)) }
      let inner = parts.compactMap { try? JSON(parsing: $0) }.flatMap(texts)
      return [text] + inner.filter { !$0.hasPrefix("org.iso") }
    }
    return (json.array ?? []).flatMap(texts) + (json.object ?? []).flatMap { texts(in: $0.value) }
  }
}
