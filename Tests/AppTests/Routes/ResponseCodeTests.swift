import Base
import Cryptography
import Mock
import Sessions
import TestSupport
import Testing

@testable import App

/// Sessions that were opened by a link: only the responding browser returns with the code that reads the result.
@Suite(.onOwnThreads) struct ResponseCodeTests {
  private static let mismatch = "session.response_code_mismatch"

  /// A code that a page has made, and its hash.
  private struct PageCode {
    let text: String
    var hash: String { Base64.encodeURLSafe(HashAlgorithm.sha256.hash(Array(text.utf8))) }
  }

  private static let victim = PageCode(text: "vrc_the-victim's-page-has-made-it")
  private static let attacker = PageCode(text: "vrc_the-attacker-has-made-it")

  /// A machine that is too busy to fetch lists in time does not fail the test.
  private static func serve(evidenceKey: EvidenceKey? = nil, _ body: (TestBed) async throws -> Void) async throws {
    try await withTestMode(revocation: .allowUndetermined, evidenceKey: evidenceKey, body)
  }

  private func session(
    _ bed: TestBed, by protocols: [String], origin: String? = nil, _ extra: JSON.Member...
  ) async throws -> JSON {
    let origin = origin.map { JSON.Member("origin", .string($0)) }
    let body = TestBed.body(.standard, protocols: protocols, extra: extra + (origin.map { [$0] } ?? []))
    let reply = try await bed.api.post("/v1/verification_sessions", body)
    #expect(reply.status == 201, "\(reply.body)")
    return reply.json
  }

  private func secret(of session: JSON) throws -> String { try #require(session["client_secret"]?.string) }

  private func read(_ session: JSON, _ bed: TestBed, with code: String? = nil) async throws -> APIClient.Reply {
    let code = code.map { "&response_code=" + $0 } ?? ""
    return try await bed.api.get(TestBed.path(session) + "?expand[]=result" + code)
  }

  /// Only `code` reads the result, any number of times.
  private func expect(_ code: String, toOpen session: JSON, _ bed: TestBed) async throws {
    for wrong in [nil, "", "vrc_0", Self.attacker.text, code + "0"] {
      let refused = try await read(session, bed, with: wrong)
      #expect(refused.status == 403 && refused.code == Self.mismatch && !refused.body.contains("Morgan"))
    }
    for _ in 0..<2 { #expect(try await read(session, bed, with: code).body.contains("Morgan")) }
    #expect(!bed.log.text.contains(code))
    #expect(try await !bed.api.get("/v1/events").body.contains(code))
    // No other caller learns it.
    for path in ["", "/page"] {
      #expect(try await !bed.api.with(secret(of: session)).get(TestBed.path(session) + path).body.contains(code))
    }
  }

  private static let returning = JSON.Member("return_url", .string(TestBed.origin + "/done"))
  private static let redirecting = JSON.Member("redirect_uri", .string(TestBed.origin + "/back"))

  @Test func `an answer by the browser's own way is read with the code of its reply`() async throws {
    try await Self.serve { bed in
      let own = bed.mode.baseURL
      let iso = "org-iso-mdoc"
      var sessions = [
        // Only the hosted page can respond for its own origin.
        (iso, try await session(bed, by: [iso], origin: own)),
        (iso, try await session(bed, by: [iso, "openid4vp"], origin: TestBed.origin, Self.redirecting)),
      ]
      for name in ProtocolFamily.web.protocolNames {
        sessions.append(
          (name, try await session(bed, by: [name, "openid4vp"], origin: TestBed.origin, Self.returning)))
      }
      for (name, session) in sessions {
        let answer = try await bed.mockAnswer(session, by: name)
        let reply = try await bed.submit(answer, to: session, as: secret(of: session))
        try #require(reply.json["status"] == "verified", "\(reply.body)")
        #expect(!reply.body.contains("Morgan"))
        let code = try #require(reply.json["response_code"]?.string)
        #expect(code.hasPrefix("vrc_") && code.utf8.count == 47)
        try await expect(code, toOpen: session, bed)
      }
    }
  }

  @Test func `an attacker who sends somebody his own session's page reads nothing`() async throws {
    try await Self.serve { bed in
      let own = bed.mode.baseURL
      for name in ["org-iso-mdoc"] + WalletRouteTests.protocols {
        let isWeb = name == "org-iso-mdoc"
        let session = try await session(bed, by: [name], origin: isWeb ? own : nil, Self.returning)
        let client = bed.api.with(try secret(of: session))
        // The attacker has the page open too.
        let qrCode = TestBed.path(session) + "/qr_code?response_code_sha256="
        if !isWeb { #expect(try await client.get(qrCode + Self.attacker.hash).status == 200) }
        if isWeb {
          let answer = try await bed.mockAnswer(session)
          let body = JSON.object(
            (answer.object ?? []) + [.init("response_code_sha256", .string(Self.victim.hash))])
          let reply = try await client.post(TestBed.path(session) + "/submit", body)
          #expect(reply.status == 200 && reply.json["response_code"] == nil, "\(reply.body)")
        } else {
          let answer = try await pageAnswer(session, name, Self.victim, bed)
          let reply = try await bed.postForm(answer, to: session, code: Self.victim.hash)
          #expect(reply.status == 200 && reply.json == [:], "\(reply.body)")
        }
        try await expect(Self.victim.text, toOpen: session, bed)
      }
    }
  }

  /// The mock wallet's response to a page's link.
  private func pageAnswer(_ session: JSON, _ name: String, _ code: PageCode, _ bed: TestBed) async throws -> JSON {
    let data = session["requests"]?.array?.first { $0["protocol"]?.string == name }?["data"]
    let uri = try #require(data?["request_uri"]?.string)
    let id = try #require(session["id"]?.string)
    let reply = try await bed.api.post(
      "/v1/test/mock_responses",
      .members([
        "session": session["id"], "protocol": .string(name),
        "request_uri": .string(uri.replacing(id, with: id + "." + code.hash)),
      ]))
    #expect(reply.status == 200, "\(reply.body)")
    return try #require(reply.json["data"])
  }

  @Test(arguments: WalletRouteTests.protocols)
  func `an answer to one page's link is no answer to another's`(name: String) async throws {
    try await Self.serve { bed in
      for code in [Self.attacker.hash, nil] {
        let session = try await session(bed, by: [name])
        let answer = try await pageAnswer(session, name, Self.victim, bed)
        let reply = try await bed.postForm(answer, to: session, code: code)
        #expect(reply.status == 400 && reply.json["error"] == "mdoc.device_auth.signature_invalid")
        let read = try await bed.api.get(TestBed.path(session)).json
        #expect(read["last_error"]?["code"] == "mdoc.device_auth.signature_invalid", "\(read)")
      }
    }
  }

  @Test(arguments: WalletRouteTests.protocols)
  func `evidence of an answer to a page's link is verified again`(name: String) async throws {
    let key = try TestBed.evidenceKey()
    try await Self.serve(evidenceKey: key) { bed in
      let session = try await bed.asked(by: name)
      let answer = try await pageAnswer(session, name, Self.victim, bed)
      #expect(try await bed.postForm(answer, to: session, code: Self.victim.hash).status == 200)
      let bundle = try EvidenceBundle(opening: try #require(try await bed.bundle(of: session)), with: [key])
      let (json, fault) = EvidenceRendering.json(bundle, await bundle.verify())
      #expect(fault == nil && json["status"] == "verified", "\(json)")
    }
  }

  @Test func `a wallet comes back to return_url with the code where no page waits for it`() async throws {
    try await Self.serve { bed in
      let session = try await session(bed, by: ["openid4vp"], Self.returning)
      let reply = try await bed.postForm(bed.mockAnswer(session)["data"] ?? .null, to: session)
      let prefix = "\(TestBed.origin)/done?session=\(session["id"]?.string ?? "")&response_code="
      let address = try #require(reply.json["redirect_uri"]?.string)
      #expect(address.hasPrefix(prefix + "vrc_"))
      try await expect(String(address.dropFirst(prefix.count)), toOpen: session, bed)
      // The code is sent to redirect_uri, regardless of the page that showed the link.
      let other = try await self.session(bed, by: ["openid4vp"], Self.returning, Self.redirecting)
      let answer = try await pageAnswer(other, "openid4vp", Self.victim, bed)
      let back = try await bed.postForm(answer, to: other, code: Self.victim.hash)
      let code = try #require(back.json["redirect_uri"]?.string?.split(separator: "=").last.map(String.init))
      #expect(try await read(other, bed, with: Self.victim.text).code == Self.mismatch)
      try await expect(code, toOpen: other, bed)
    }
  }

  @Test func `who was reached by no link, or has an API key, needs no code`() async throws {
    try await Self.serve { bed in
      let plain = try await session(bed, by: ["org-iso-mdoc"], origin: TestBed.origin)
      let reply = try await bed.submit(bed.mockAnswer(plain), to: plain, as: secret(of: plain))
      #expect(reply.status == 200 && reply.json["response_code"] == nil)
      #expect(try await read(plain, bed).body.contains("Morgan"))
      let linked = try await session(bed, by: ["org-iso-mdoc"], origin: bed.mode.baseURL, Self.returning)
      let inline = try await bed.submit(bed.mockAnswer(linked), to: linked)
      #expect(inline.body.contains("Morgan") && inline.json["response_code"] == nil)
    }
  }

  @Test func `what is no hash is refused, and an API key brings none`() async throws {
    try await Self.serve { bed in
      let session = try await session(bed, by: ["org-iso-mdoc", "openid4vp"], origin: bed.mode.baseURL)
      let answer = try await bed.mockAnswer(session, by: "org-iso-mdoc")
      let client = bed.api.with(try secret(of: session))
      for wrong in ["", "x", Self.victim.text, Self.victim.hash + "A", String(Self.victim.hash.dropLast()) + "B"] {
        let body = JSON.object((answer.object ?? []) + [.init("response_code_sha256", .string(wrong))])
        let reply = try await client.post(TestBed.path(session) + "/submit", body)
        #expect(reply.code == "api.invalid_request" && reply.errors == ["/response_code_sha256"], "\(reply.body)")
        let image = try await client.get(TestBed.path(session) + "/qr_code?response_code_sha256=" + wrong)
        #expect(image.code == "api.invalid_request")
        #expect(try await bed.postForm([:], to: session, action: "request", code: wrong).status == 404)
      }
      let body = JSON.object((answer.object ?? []) + [.init("response_code_sha256", .string(Self.victim.hash))])
      #expect(try await bed.api.post(TestBed.path(session) + "/submit", body).code == "api.forbidden")
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "requires_input")
    }
  }
}
