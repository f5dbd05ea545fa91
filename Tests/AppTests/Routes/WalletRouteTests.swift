import Base
import Cryptography
import Mock
import Pages
import Presentation
import Sessions
import TestSupport
import Testing

@testable import App

/// The routes for wallets, over HTTP.
@Suite(.onOwnThreads) struct WalletRouteTests {
  /// Those whose request the wallet fetches.
  static let protocols = ["openid4vp", "openid4vp-iso-18013-7-annex-b"]

  @Test(arguments: protocols)
  func `a wallet fetches its request and posts its answer; the relying party reads the result`(
    name: String
  ) async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: name)
      let data = try #require(session["requests"]?.array?.first?["data"])
      let path = TestBed.walletPath(session, "request")
      #expect(data["request_uri"]?.string == bed.mode.baseURL + path)
      let fetched = try await bed.api.with(nil).get(path)
      #expect(fetched.status == 200)
      #expect(fetched.header("Content-Type") == "application/oauth-authz-req+jwt")
      // Again, posted, and with the wallet's nonce.
      let posted = try await bed.postForm(
        ["wallet_nonce": "n-17", "wallet_metadata": "{}", "more": "x"], to: session, action: "request")
      let (first, second) = (try Self.payload(fetched), try Self.payload(posted))
      #expect(first["nonce"] == second["nonce"])
      #expect(first["wallet_nonce"] == nil && second["wallet_nonce"] == "n-17")
      #expect(first["response_uri"]?.string == bed.mode.baseURL + TestBed.walletPath(session, "response"))

      let answer = try MockWallet(authority: bed.mode.authority).answer(
        requestObject: Array(posted.body.utf8), at: bed.clock.now)
      let reply = try await bed.postForm(answer.data, to: session)
      #expect(reply.status == 200 && reply.json == [:], "\(reply.body)")
      let line = try #require(bed.log.line(of: reply))
      #expect(line["session"] == session["id"] && line["relying_party"] == "test")
      #expect(try await bed.postForm(answer.data, to: session).code == "session.already_used")
      #expect(try await bed.api.with(nil).get(path).code == "session.already_used")
      let read = try await bed.api.get(TestBed.path(session) + "?expand[]=result")
      #expect(read.json["status"] == "verified", "\(read.body)")
      #expect(read.body.contains("Morgan"))
    }
  }

  /// A wallet of the EUDI reference implementation requires it, on P-521 in its example.
  @Test(arguments: [Curve.p256, .p384, .p521])
  func `a wallet that sends its key gets its request encrypted`(curve: Curve) async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: "openid4vp")
      let key = try MockRequestKey(of: bed.mode.authority, on: curve)
      let fetched = try await bed.postForm(
        ["wallet_nonce": "n-17", "wallet_metadata": .string(key.metadata.text())], to: session, action: "request")
      #expect(fetched.status == 200 && fetched.header("Content-Type") == "application/oauth-authz-req+jwt")
      #expect(fetched.body.split(separator: ".", omittingEmptySubsequences: false).count == 5)
      let object = try key.open(Array(fetched.body.utf8))
      let parts = String(decoding: object, as: UTF8.self).split(separator: ".")
      let claims = try JSON(parsing: try #require(Base64.decodeURLSafe(String(parts[1]))))
      #expect(claims["wallet_nonce"] == "n-17" && claims["response_mode"] == "direct_post.jwt")
      let answer = try MockWallet(authority: bed.mode.authority).answer(requestObject: object, at: bed.clock.now)
      #expect(try await bed.postForm(answer.data, to: session).status == 200)
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "verified")
    }
  }

  @Test func `the mock wallet requires an encrypted request, and takes no plain one`() async throws {
    try await withTestMode { bed in
      for (name, status) in [("openid4vp", 200), ("openid4vp-iso-18013-7-annex-b", 400)] {
        let session = try await bed.createSession(by: name)
        let reply = try await bed.api.post(
          "/v1/test/mock_responses", .members(["session": session["id"], "encrypted_request": true]))
        #expect(reply.status == status, "\(reply.body)")
        guard status == 200 else { continue }
        #expect(try await bed.submit(reply.json, to: session).json["status"] == "verified")
      }
    }
  }

  @Test(
    arguments: [
      ("[]", "api.invalid_request", "/wallet_metadata"), ("{", "api.invalid_request", "/wallet_metadata"),
      ("{\"jwks\":1}", "api.invalid_request", "/wallet_metadata/jwks"),
      (
        "{\"response_modes_supported\":[\"fragment\"]}", "api.wallet_unsupported",
        "/wallet_metadata/response_modes_supported"
      ),
      ("{\"vp_formats_supported\":{}}", "api.wallet_unsupported", "/wallet_metadata/vp_formats_supported"),
    ])
  func `a wallet that does not take the request gets none, and the session stays open`(
    metadata: String, code: String, pointer: String
  ) async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: "openid4vp")
      let refused = try await bed.postForm(["wallet_metadata": .string(metadata)], to: session, action: "request")
      #expect(refused.status == 400 && refused.code == code && refused.errors == [pointer], "\(refused.body)")
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "requires_input")
      #expect(try await bed.postForm([:], to: session, action: "request").status == 200)
    }
  }

  @Test func `a request is fetched twice, by HEAD, and with any Accept`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: "openid4vp")
      let path = TestBed.walletPath(session, "request")
      var nonces: Set<JSON> = []
      for accept in ["application/oauth-authz-req+jwt", "application/jwt", "text/html", "*/*", "nonsense"] {
        let fetched = try await bed.api.with(nil).get(path, ["Accept": accept])
        #expect(fetched.status == 200 && fetched.header("Content-Type") == "application/oauth-authz-req+jwt")
        nonces.insert(try #require(try Self.payload(fetched)["nonce"]))
        let posted = try await bed.api.with(nil).call(
          "POST", path, Array("wallet_nonce=a".utf8),
          ["Accept": accept, "Content-Type": "application/x-www-form-urlencoded"])
        #expect(try Self.payload(posted)["wallet_nonce"] == "a")
      }
      #expect(nonces.count == 1)
      let head = try await bed.api.with(nil).call("HEAD", path)
      #expect(head.status == 200 && head.body.isEmpty)
      #expect(head.header("Content-Type") == "application/oauth-authz-req+jwt")
      #expect(try await bed.postForm([:], to: session, action: "request").status == 200)
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "requires_input")
    }
  }

  /// The link has the hash of the page's response code: only that code reads the result, and only a response to that
  /// link is accepted.
  @Test func `the European age profile's link holds its request, and the wallet posts to the page's address`()
    async throws
  {
    try await withTestMode { bed in
      let name = "openid4vp-eu-age-verification"
      let asked = MockRequest(documents: [.init(docType: "eu.europa.ec.av.1", elements: [], ageOver: [18])])
      let returning = JSON.Member("return_url", .string(TestBed.origin + "/done"))
      let code = "vrc_a-page-has-made-it"
      let hash = Base64.encodeURLSafe(HashAlgorithm.sha256.hash(Array(code.utf8)))
      for isPages in [true, false] {
        let session = try await bed.api.post(
          "/v1/verification_sessions", TestBed.body(asked, protocols: [name], extra: [returning])
        ).json
        let link = try #require(session["requests"]?.array?.first?["data"]?["authorization_request"]?.string)
        let fetched = try await bed.api.with(nil).get(TestBed.walletPath(session, "request"))
        #expect(fetched.status == 404 && fetched.code == "session.not_found")
        let id = try #require(session["id"]?.string)
        let shown = isPages ? link.replacing(id, with: "\(id).\(hash)") : link
        let qr = try await bed.api.get(
          TestBed.path(session) + "/qr_code" + (isPages ? "?response_code_sha256=" + hash : ""))
        #expect(qr.status == 200 && qr.body == QRCode(shown)?.svg)

        let wallet = MockWallet(authority: bed.mode.authority, documents: MockPerson.allDocuments)
        let parameters = try #require(AuthorizationLink(shown)).parameters
        let answer = try wallet.answer(parameters: .object(parameters), at: bed.clock.now)
        let mocked = try await bed.api.post(
          "/v1/test/mock_responses", ["session": .string(id), "request_uri": .string(shown)])
        #expect(mocked.json == ["protocol": .string(name), "data": answer.data])
        let other = try await bed.api.post(
          "/v1/test/mock_responses", ["session": .string(id), "request_uri": "av://?x=y"])
        #expect(other.errors == ["/request_uri"])

        let reply = try await bed.postForm(answer.data, to: session, code: hash)
        if isPages {
          #expect(reply.status == 200 && reply.json == [:], "\(reply.body)")
        } else {
          #expect(reply.status == 400 && reply.json["error"] != nil, "\(reply.body)")
        }
        let path = TestBed.path(session) + "?expand[]=result"
        let read = try await bed.api.get(path + "&response_code=" + code)
        if isPages {
          #expect(try await bed.api.get(path).code == "session.response_code_mismatch")
          #expect(read.json["status"] == "verified", "\(read.body)")
          let age = read.json["result"]?["documents"]?.array?.first?["age_over"]?.array?.first
          #expect(age?["answer"] == true)
        } else {
          #expect(read.json["last_error"]?["code"] == "mdoc.device_auth.signature_invalid", "\(read.body)")
        }
      }
    }
  }

  private static func payload(_ reply: APIClient.Reply) throws -> JSON {
    let parts = reply.body.split(separator: ".")
    try #require(parts.count == 3)
    return try JSON(parsing: try #require(Base64.decodeURLSafe(String(parts[1]))))
  }

  @Test func `on the same device the result is read with the response code alone`() async throws {
    try await withTestMode { bed in
      let address = TestBed.origin + "/done?order=17"
      for variant in ["good", "digest-wrong"] {
        let session = try await bed.createSession(by: "openid4vp", redirectURI: address)
        let answer = try await bed.mockAnswer(session, variant: variant == "good" ? "good" : Self.wrongVariant)
        let reply = try await bed.postForm(answer["data"] ?? .null, to: session)
        let prefix = address + "#response_code="
        let redirect = try #require(reply.json["redirect_uri"]?.string)
        #expect(reply.status == (variant == "good" ? 200 : 400) && redirect.hasPrefix(prefix))
        let code = String(redirect.dropFirst(prefix.count))
        let path = TestBed.path(session) + "?expand[]=result"
        let without = try await bed.api.get(path)
        let wrong = try await bed.api.get(path + "&response_code=vrc_0")
        let right = try await bed.api.get(path + "&response_code=" + code)
        #expect(right.status == 200)
        if variant == "good" {
          for refused in [without, wrong] {
            #expect(refused.status == 403 && refused.code == "session.response_code_mismatch")
          }
          #expect(right.body.contains("Morgan"))
        } else {
          #expect(right.json["status"] == "failed" && right.json["result"] == .null)
        }
        #expect(!bed.log.text.contains(code))
      }
    }
  }

  private static let wrongVariant =
    MockVariant.all.first { $0.codes.map(\.rawValue) == ["mdoc.digest.mismatch"] }?.name ?? "none"

  @Test func `a wallet's error is taken from the form, and the person sent back`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: "openid4vp", redirectURI: TestBed.origin)
      let request = try await bed.api.with(nil).get(TestBed.walletPath(session, "request"))
      let state = try #require(try Self.payload(request)["state"])
      let reply = try await bed.postForm(["error": "access_denied", "state": state], to: session)
      #expect(reply.status == 200)
      #expect(reply.json["redirect_uri"]?.string?.hasPrefix(TestBed.origin + "#response_code=vrc_") == true)
      let read = try await bed.api.get(TestBed.path(session))
      #expect(read.json["status"] == "canceled")
      #expect(read.json["last_error"]?["code"] == "wallet.access_denied")
    }
  }

  /// They may be personal: an API key reads them with the session until its redaction, and no other reply has them.
  @Test func `a wallet's words about its error are kept with the session alone`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: "openid4vp")
      let request = try await bed.api.with(nil).get(TestBed.walletPath(session, "request"))
      let state = try #require(try Self.payload(request)["state"])
      _ = try await bed.postForm(
        ["error": "access_denied", "state": state, "error_description": "Ada\u{7}declines"], to: session)
      let path = TestBed.path(session)
      let read = try await bed.api.get(path)
      #expect(read.json["last_error"]?["unverified_wallet_description"] == "Ada\u{fffd}declines")
      let own = try await bed.api.with(session["client_secret"]?.string).get(path)
      #expect(own.json["last_error"] == ["code": "wallet.access_denied"])
      for path in ["/v1/events", "/v1/audit/entries?node=node", "/metrics"] {
        let reply = try await bed.api.get(path)
        #expect(reply.status == 200 && !reply.body.contains("declines"), "\(path)")
      }
      #expect(!bed.log.text.contains("declines"))
      let redacted = try await bed.api.post(path + "/redact", [:])
      #expect(redacted.json["last_error"]?["code"] == "wallet.access_denied")
      for reply in [redacted, try await bed.api.get(path)] { #expect(!reply.body.contains("declines")) }
    }
  }

  /// OpenID4VP 1.0, 8.5: nothing in an error is signed, so only its state shows that it belongs to this request.
  @Test(arguments: [["error": "access_denied"], ["error": "access_denied", "state": "another"]] as [JSON])
  func `an error without the request's state consumes nothing`(form: JSON) async throws {
    try await withTestMode { bed in
      for name in ["openid4vp", "openid4vp-iso-18013-7-annex-b"] {
        let session = try await bed.createSession(by: name)
        let reply = try await bed.postForm(form, to: session)
        #expect(reply.status == 400 && reply.code == "api.invalid_request" && reply.errors == ["/state"])
        #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "requires_input")
      }
    }
  }

  /// D20.
  @Test func `what is no form, or has two meanings, consumes nothing`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: "openid4vp")
      let answer = try await bed.mockAnswer(session)["data"]?["response"]?.string ?? ""
      let path = TestBed.walletPath(session, "response")
      let form = "application/x-www-form-urlencoded"
      func post(_ body: String, _ type: String = form) async throws -> APIClient.Reply {
        try await bed.api.with(nil).call("POST", path, Array(body.utf8), ["Content-Type": type])
      }
      let right = "response=" + answer
      for type in ["application/json", "text/plain", form + "; charset=latin1", "multipart/form-data; boundary=x"] {
        let reply = try await post(type == "application/json" ? "{\"response\":\"\(answer)\"}" : right, type)
        #expect(reply.status == 415 && reply.code == "api.unsupported_media_type")
      }
      for (body, pointers) in [
        (right + "&" + right, ["/response"]), (right + "&state=a&state=b", ["/state"]), ("", [""]), ("x=y", [""]),
        (right + "&error=access_denied", [""]),
      ] {
        let reply = try await post(body)
        #expect(reply.status == 400 && reply.code == "api.invalid_request", "\(body.prefix(40))")
        #expect(reply.errors == pointers, "\(reply.body)")
      }
      let marks = String(repeating: "%CC%81%CC%A7", count: 16)
      for body in [
        "response=%zz", "response=%ff", "response=a b", "response=\u{e9}", right + "\n", "a\(marks)=1",
        "error=a\(marks)",
      ] {
        #expect(try await post(body).code == "api.malformed_request")
      }
      #expect(try await post("a" + String(repeating: "b", count: 256) + "=1").code == "api.invalid_request")
      #expect(try await post((0..<40).map { "f\($0)=1" }.joined(separator: "&")).code == "api.invalid_request")
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "requires_input")
      // Unknown parameters are ignored.
      #expect(try await post(right + "&iss=wallet", form + ";charset=UTF-8").status == 200)
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "verified")
    }
  }

  @Test func `no form is read for a session that is not there, or waits for nothing`() async throws {
    try await withTestMode { bed in
      let ended = try await bed.createSession(by: "openid4vp")
      _ = try await bed.api.post(TestBed.path(ended) + "/cancel")
      let inApp = try await bed.createSession()
      for (path, code) in [
        ("/v1/wallet/test/vs_0000000000000000000000/response", "session.not_found"),
        (TestBed.walletPath(inApp, "response"), "session.not_found"),
        (TestBed.walletPath(ended, "response"), "session.canceled"),
        ("/v1/wallet/test/vs_0000000000000000000000/request", "session.not_found"),
        (TestBed.walletPath(ended, "request"), "session.canceled"),
      ] {
        // It is not a form.
        let reply = try await bed.api.with(nil).call(
          "POST", path, Array("response=%zz".utf8), ["Content-Type": "application/x-www-form-urlencoded"])
        #expect(reply.code == code, "\(path)")
      }
    }
  }

  @Test func `unknown, foreign and in-app sessions answer alike, ended ones say so`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: "openid4vp")
      let inApp = try await bed.createSession()
      let id = session["id"]?.string ?? ""
      var bodies: Set<String> = []
      for path in [
        "/v1/wallet/test/vs_0000000000000000000000/request", "/v1/wallet/test/x/request",
        "/v1/wallet/other/\(id)/request", TestBed.walletPath(inApp, "request"),
      ] {
        let reply = try await bed.api.with(nil).get(path)
        #expect(reply.status == 404 && reply.code == "session.not_found")
        bodies.insert(reply.json["detail"]?.string ?? "")
      }
      #expect(bodies.count == 1)
      for path in ["/v1/wallet/../\(id)/request", "/v1/wallet/te%73t/\(id)/request", "/v1/wallet/test/\(id)/"] {
        #expect(try await bed.api.with(nil).get(path).code == "api.not_found")
      }
      let canceled = try await bed.createSession(by: "openid4vp")
      _ = try await bed.api.post(TestBed.path(canceled) + "/cancel")
      #expect(try await bed.api.with(nil).get(TestBed.walletPath(canceled, "request")).code == "session.canceled")
      _ = try await bed.api.post(TestBed.path(canceled) + "/redact")
      #expect(try await bed.api.with(nil).get(TestBed.walletPath(canceled, "request")).code == "session.redacted")
      bed.clock.advance(600)
      let late = try await bed.api.with(nil).get(TestBed.walletPath(session, "request"))
      #expect(late.status == 410 && late.code == "session.expired")
    }
  }

  @Test(arguments: [(["https://wallet.example"], "https://wallet.example"), (["*"], "*")])
  func `wallets that are web pages may call from the origins that are configured`(
    origins: [String], allowed: String
  ) async throws {
    try await withTestMode(openID4VP: { $0.walletOrigins = origins }) { bed in
      let header = "Access-Control-Allow-Origin"
      let session = try await bed.createSession(by: "openid4vp")
      let ours = ["Origin": "https://wallet.example"]
      for (action, methods) in [("request", "GET, HEAD, POST"), ("response", "POST")] {
        let path = TestBed.walletPath(session, action)
        for (origin, isAllowed) in [("https://wallet.example", true), ("https://evil.example", allowed == "*")] {
          let preflight = try await bed.api.with(nil).call(
            "OPTIONS", path, nil, ["Origin": origin, "Access-Control-Request-Method": "POST"])
          #expect(preflight.status == 204)
          #expect(preflight.header(header) == (isAllowed ? allowed : nil))
          #expect(preflight.header("Access-Control-Allow-Methods") == (isAllowed ? methods : nil))
          #expect(preflight.header("Access-Control-Allow-Headers") == (isAllowed ? "Content-Type" : nil))
          #expect(preflight.header("Access-Control-Allow-Credentials") == nil)
          #expect(preflight.header("Vary") == "Origin")
        }
        // A refusal is readable too.
        let refused = try await bed.api.with(nil).call("POST", path, Array("a=b".utf8), ours)
        #expect(refused.status == 415 && refused.header(header) == allowed)
      }
      let fetched = try await bed.api.with(nil).get(TestBed.walletPath(session, "request"), ours)
      #expect(fetched.status == 200 && fetched.header(header) == allowed)
      #expect(fetched.header("Access-Control-Allow-Credentials") == nil)
      let reply = try await bed.api.with(nil).call(
        "POST", TestBed.walletPath(session, "response"), Array("x=y".utf8),
        ours.merging(["Content-Type": "application/x-www-form-urlencoded"]) { $1 })
      #expect(reply.status == 400 && reply.header(header) == allowed)
      // Only these routes, and only of this relying party.
      for path in [TestBed.path(session), "/v1/wallet/other/\(session["id"]?.string ?? "")/request", "/reader.crl"] {
        let preflight = try await bed.api.with(nil).call(
          "OPTIONS", path, nil, ours.merging(["Access-Control-Request-Method": "GET"]) { $1 })
        #expect(preflight.header(header) == nil, "\(path)")
        #expect(try await bed.api.with(nil).get(path, ours).header(header) == nil, "\(path)")
      }
    }
  }

  @Test func `pages of other origins cannot call what wallets call`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: "openid4vp")
      for action in ["request", "response"] {
        let path = TestBed.walletPath(session, action)
        let preflight = try await bed.api.with(nil).call(
          "OPTIONS", path, nil, ["Origin": TestBed.origin, "Access-Control-Request-Method": "POST"])
        #expect(preflight.status == 405)
        #expect(preflight.header("Access-Control-Allow-Origin") == nil)
      }
      let fetched = try await bed.api.with(nil).get(
        TestBed.walletPath(session, "request"), ["Origin": TestBed.origin])
      #expect(fetched.status == 200 && fetched.header("Access-Control-Allow-Origin") == nil)
    }
  }
}
