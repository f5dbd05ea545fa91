import Base
import TestStores
import Testing

@testable import Sessions

/// Requests that wallets fetch, responses that they post, and access to the results.
@Suite("Wallets that call by themselves")
struct WalletEndpointTests {
  private static let expand = QueryItem("expand[]", "result")

  @Test("the request can be fetched again until the session ends, with the wallet's nonce in it (D19)")
  func fetched() async throws {
    let fixture = try Fixture()
    let (id, nonce) = try await fixture.createRedirect()
    func fetch(_ parameters: JSON? = nil) async throws -> String {
      String(
        decoding: try await fixture.service.walletRequest(id, of: "shop", parameters: parameters), as: UTF8.self)
    }
    #expect(try await fetch() == "shop material of \(nonce) for nobody")
    #expect(try await fetch(["wallet_nonce": "n1", "surprise": "x"]) == "shop material of \(nonce) for n1")
    _ = try await fixture.service.receiveWalletResponse(["word": "good"], session: id, of: "shop")
    #expect(await code { _ = try await fetch() } == .sessionAlreadyUsed)
    let (expiring, _) = try await fixture.createRedirect()
    let (canceled, _) = try await fixture.createRedirect()
    let (redacted, _) = try await fixture.createRedirect()
    _ = try await fixture.service.cancel(canceled, as: fixture.full)
    _ = try await fixture.service.redact(redacted, as: fixture.full)
    fixture.clock.advance(600)
    for (id, expected) in [(expiring, Code.sessionExpired), (canceled, .sessionCanceled), (redacted, .sessionRedacted)]
    {
      #expect(await code { _ = try await fixture.service.walletRequest(id, of: "shop") } == expected)
      #expect(
        await code { _ = try await fixture.service.receiveWalletResponse(["word": "good"], session: id, of: "shop") }
          == expected)
    }
  }

  @Test("an unknown session, another's, and one that wallets do not call are refused alike")
  func unknown() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.createRedirect()
    let (inApp, _) = try await fixture.create()
    for (session, party) in [
      (id, "other"), (id, "nobody"), ("vs_0000000000000000000000", "shop"), ("x", "shop"), (inApp, "shop"),
    ] {
      #expect(await code { _ = try await fixture.service.walletRequest(session, of: party) } == .sessionNotFound)
      #expect(
        await code {
          _ = try await fixture.service.receiveWalletResponse(["word": "good"], session: session, of: party)
        } == .sessionNotFound)
    }
    #expect(try await fixture.service.session(inApp, as: fixture.full).body.status == "requires_input")
  }

  @Test("the wallet of a live server learns nothing of the verdict; the result waits for the relying party")
  func posted() async throws {
    let fixture = try Fixture(store: InMemoryStore(mode: .live), mode: .live)
    for (word, status) in [("good", "verified"), ("forged", "failed"), ("no", "canceled")] {
      let (id, _) = try await fixture.createRedirect()
      let reply = try await fixture.service.receiveWalletResponse(["word": .string(word)], session: id, of: "shop")
      #expect(reply.body == [:] && reply.status == 200)
      #expect(reply.verification?.rawValue == status)
      let body = try await fixture.service.session(id, query: [Self.expand], as: fixture.full).body
      #expect(body.status == status)
      #expect(body.hasResult == (word == "good"))
      #expect(reply.code?.rawValue == body["last_error"]?["code"]?.string)
      // One reply to every verdict.
      let again = await code {
        _ = try await fixture.service.receiveWalletResponse(["word": "good"], session: id, of: "shop")
      }
      #expect(again == (word == "no" ? .sessionCanceled : .sessionAlreadyUsed))
    }
  }

  /// OpenID4VP 1.0, 8.2 does not cover rejected responses; Italy's rules require 400 with `error`.
  @Test(
    "a wallet is told why its response was refused in staging and test mode, and in live mode that it was, if wanted",
    arguments: [
      (ServerMode.test, nil, "envelope.transcript_mismatch"), (.staging, nil, "envelope.transcript_mismatch"),
      (.staging, false, nil), (.test, false, nil), (.live, nil, nil), (.live, false, nil),
      (.live, true, "invalid_request"),
    ] as [(ServerMode, Bool?, String?)])
  func feedback(_ mode: ServerMode, _ isOn: Bool?, _ expected: String?) async throws {
    let fixture = try Fixture(store: InMemoryStore(mode: mode), mode: mode, walletFeedback: isOn)
    for word in ["good", "no", "sealed no"] {
      let (id, _) = try await fixture.createRedirect()
      let reply = try await fixture.service.receiveWalletResponse(["word": .string(word)], session: id, of: "shop")
      #expect(reply.body == [:] && reply.status == 200, "\(word)")
    }
    let (id, _) = try await fixture.createRedirect(to: "https://shop.example")
    let reply = try await fixture.service.receiveWalletResponse(["word": "forged"], session: id, of: "shop")
    #expect(reply.status == (expected == nil ? 200 : 400) && reply.body["error"]?.string == expected)
    // The person is always sent back, and in live mode a wallet learns nothing more.
    #expect(reply.responseCode(after: "https://shop.example#response_code=") != nil)
    let description = reply.body["error_description"]?.string
    #expect((description == nil) == (expected == nil))
    if mode == .live, expected != nil { #expect(description == "The response was rejected.") }
    if mode != .live, expected != nil { #expect(description == "another nonce") }
  }

  @Test("a malformed response consumes nothing, and the error points into the form (D20)")
  func malformed() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.createRedirect()
    let error = await #expect(throws: ServiceError.self) {
      try await fixture.service.receiveWalletResponse(["other": "good"], session: id, of: "shop")
    }
    #expect(error?.code == .apiInvalidRequest && error?.pointers.map(\.pointer) == ["/word"])
    #expect(try await fixture.service.session(id, as: fixture.full).body.status == "requires_input")
  }

  @Test("the result of a redirected session is read only with its response code", arguments: [false, true])
  func responseCode(_ retains: Bool) async throws {
    let fixture = try Fixture(retains: retains)
    let (id, _) = try await fixture.createRedirect(to: "https://shop.example/back?a=b")
    let reply = try await fixture.service.receiveWalletResponse(["word": "good"], session: id, of: "shop")
    let responseCode = try #require(reply.responseCode(after: "https://shop.example/back?a=b#response_code="))
    #expect(responseCode.utf8.count >= 22)
    func read(_ query: QueryItem...) async throws -> JSON {
      try await fixture.service.session(id, query: [Self.expand] + query, as: fixture.full).body
    }
    func expectMismatches() async throws {
      #expect(await code { _ = try await read() } == .responseCodeMismatch)
      for wrong in ["", "x", String(responseCode.dropLast()), responseCode + "0"] {
        #expect(await code { _ = try await read(QueryItem("response_code", wrong)) } == .responseCodeMismatch)
      }
    }
    let right = QueryItem("response_code", responseCode)
    try await expectMismatches()
    #expect(try await read(right).givenName == Fixture.personal)
    #expect(try await read(right).givenName == Fixture.personal)
    #expect(await code { _ = try await read(right, right) } == .apiInvalidRequest)
    // Without a result, there is nothing to protect.
    #expect(try await fixture.service.session(id, as: fixture.full).body.status == "verified")
    fixture.clock.advance(600)
    if retains { try await expectMismatches() }
    #expect(try await read(right).hasResult == retains)
  }

  @Test("a page cannot submit the response, which would make a result without a response code")
  func postedByAPage() async throws {
    let fixture = try Fixture()
    let (id, secret) = try await fixture.createRedirectSecret(to: "https://shop.example/back")
    let holder = try await fixture.service.authenticate(bearer: secret)
    let submitted: JSON = ["protocol": "openid4vp", "data": ["word": "good"]]
    #expect(await code { _ = try await fixture.service.submit(submitted, to: id, as: holder) } == .apiForbidden)
    #expect(try await fixture.service.session(id, as: fixture.full).body.status == "requires_input")
  }

  @Test("every response sends the person back, with a code of its own")
  func redirected() async throws {
    let fixture = try Fixture()
    var codes: Set<String> = []
    for word in ["good", "forged", "no"] {
      let (id, _) = try await fixture.createRedirect(to: "https://shop.example")
      let reply = try await fixture.service.receiveWalletResponse(["word": .string(word)], session: id, of: "shop")
      codes.insert(try #require(reply.responseCode(after: "https://shop.example#response_code=")))
      guard word != "good" else { continue }
      let body = try await fixture.service.session(id, query: [Self.expand], as: fixture.full).body
      #expect(!body.hasResult && body.status != "verified")
    }
    #expect(codes.count == 3)
  }

  @Test("a response code opens no result that was not given one")
  func strayCode() async throws {
    let fixture = try Fixture()
    let (id, _) = try await fixture.createRedirect()
    _ = try await fixture.service.receiveWalletResponse(["word": "good"], session: id, of: "shop")
    let query = [Self.expand, QueryItem("response_code", "vrc_x")]
    #expect(
      await code { _ = try await fixture.service.session(id, query: query, as: fixture.full) } == .responseCodeMismatch)
  }

  @Test(
    "a wallet brings the person back to the relying party's own app, with the code in the query",
    arguments: [
      ("com.example.shop://done", "?"), ("com.example.shop://done?order=17", "&"), ("com.example.shop://", "?"),
    ])
  func app(_ address: String, _ mark: String) async throws {
    let fixture = try Fixture(redirectSchemes: ["com.example.shop"])
    let (id, _) = try await fixture.createRedirect(to: address)
    let reply = try await fixture.service.receiveWalletResponse(["word": "good"], session: id, of: "shop")
    let responseCode = try #require(reply.responseCode(after: address + mark + "response_code="))
    let query = [Self.expand, QueryItem("response_code", responseCode)]
    #expect(try await fixture.service.session(id, query: query, as: fixture.full).body.hasResult)
    #expect(
      await code { _ = try await fixture.service.session(id, query: [Self.expand], as: fixture.full) }
        == .responseCodeMismatch)
  }

  @Test(
    "no app but its own, and no other form of an address",
    arguments: [
      ("com.example.shop.evil://done", Code.apiOriginNotAllowed), ("com.example://done", .apiOriginNotAllowed),
      ("COM.example.shop://done", .apiOriginNotAllowed), ("xcom.example.shop://done", .apiOriginNotAllowed),
      ("com.example.shop:done", .apiInvalidRequest), ("com.example.shop:/done", .apiInvalidRequest),
      ("com.example.shop://done#x", .apiInvalidRequest), ("javascript:alert(1)", .apiInvalidRequest),
      ("javascript://com.example.shop://%0aalert(1)", .apiOriginNotAllowed), ("data:text/html,x", .apiInvalidRequest),
      ("http://com.example.shop://", .apiOriginNotAllowed),
    ] as [(String, Code)])
  func otherApps(_ address: String, _ expected: Code) async throws {
    let fixture = try Fixture(redirectSchemes: ["com.example.shop"])
    #expect(await code { _ = try await fixture.createRedirect(to: address) } == expected)
    // Without the setting there is none.
    let none = try Fixture()
    #expect(await code { _ = try await none.createRedirect(to: "com.example.shop://done") } == .apiOriginNotAllowed)
  }

  @Test(
    "a wallet sends nobody elsewhere",
    arguments: [
      ("https://evil.example/", Code.apiOriginNotAllowed), ("https://shop.example.evil/", .apiOriginNotAllowed),
      ("https://shop.example@evil.example/", .apiOriginNotAllowed), ("http://shop.example/", .apiOriginNotAllowed),
      ("https://shop.example:8443/", .apiOriginNotAllowed), ("https://SHOP.example/", .apiOriginNotAllowed),
      ("https://shop.example/#x", .apiInvalidRequest), ("/back", .apiInvalidRequest),
      ("https://shop.example/\\evil", .apiInvalidRequest), ("https://shop.example/ ", .apiInvalidRequest),
    ] as [(String, Code)])
  func refusedRedirect(_ address: String, _ expected: Code) async throws {
    let fixture = try Fixture()
    let error = await #expect(throws: ServiceError.self) { try await fixture.createRedirect(to: address) }
    #expect(error?.code == expected)
    #expect(error?.pointers.map(\.pointer) == ["/redirect_uri"])
  }
}

extension Fixture {
  /// The id and the nonce of a new session whose wallet posts its response.
  fileprivate func createRedirect(to address: String? = nil) async throws -> (id: String, nonce: String) {
    let body = try await redirectSession(to: address)
    guard let id = body["id"]?.string, let nonce = body["requests"]?.array?.first?["data"]?["nonce"]?.string else {
      throw ServiceError(.apiInternal)
    }
    return (id, nonce)
  }

  fileprivate func createRedirectSecret(to address: String) async throws -> (id: String, secret: String) {
    let body = try await redirectSession(to: address)
    guard let id = body["id"]?.string, let secret = body["client_secret"]?.string else {
      throw ServiceError(.apiInternal)
    }
    return (id, secret)
  }

  private func redirectSession(to address: String?) async throws -> JSON {
    var members = (Self.creation.object ?? []).filter { $0.name != "protocols" }
    members.append(.init("protocols", ["openid4vp"]))
    if let address { members.append(.init("redirect_uri", .string(address))) }
    return try await service.createSession(.object(members), as: full).body
  }
}

extension Reply {
  fileprivate func responseCode(after prefix: String) -> String? {
    guard let address = body["redirect_uri"]?.string, address.hasPrefix(prefix) else {
      return nil
    }
    return String(address.dropFirst(prefix.count))
  }
}
