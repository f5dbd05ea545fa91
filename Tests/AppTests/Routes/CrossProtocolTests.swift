import Base
import Mock
import Sessions
import TestSupport
import Testing

@testable import App

/// A response is valid only for the session, protocol, origin and client that it was made for.
@Suite(.onOwnThreads) struct CrossProtocolTests {
  static let web = ProtocolFamily.web.protocolNames
  static let all = ["apple-in-app"] + web + WalletRouteTests.protocols

  /// The result of a good response by another protocol. Either it is not recognized and consumes nothing, or its JWE is
  /// for another session's key.
  static func expected(from source: String, to target: String) -> String {
    switch (source, target) {
    case ("apple-in-app", "apple-in-app"): "envelope.transcript_mismatch"
    case ("org-iso-mdoc", "org-iso-mdoc"): "envelope.decryption_failed"
    case (_, "apple-in-app"): "api.unknown_member"
    case ("apple-in-app", _), (_, "org-iso-mdoc"): "api.invalid_request"
    case ("org-iso-mdoc", _): "envelope.malformed"
    default: "jwe.key_unknown"
    }
  }

  @Test(arguments: all)
  func `a good answer is refused by a session of every other protocol, and by another of its own`(
    source: String
  ) async throws {
    try await withTestMode { bed in
      for target in Self.all {
        let asked = try await bed.createSession(by: source)
        let answer = try await bed.mockAnswer(asked)
        let other = try await bed.createSession(by: target)
        if source != target {
          let named = try await bed.submit(answer, to: other)
          #expect(named.status == 400 && named.code == "session.protocol_mismatch", "\(source) → \(target)")
        }
        let renamed: JSON = ["protocol": .string(target), "data": answer["data"] ?? .null]
        let reply = try await bed.submit(renamed, to: other)
        let code = reply.code ?? reply.json["last_error"]?["code"]?.string
        #expect(code == Self.expected(from: source, to: target), "\(source) → \(target): \(reply.body)")
        #expect(reply.json["status"] != "verified")
        #expect(VariantTests.personal.filter { reply.body.contains($0) } == [])
        // The right session still accepts it.
        #expect(try await bed.submit(answer, to: asked).json["status"] == "verified")
      }
    }
  }

  @Test(
    arguments: zip(
      web,
      [
        "envelope.decryption_failed", "mdoc.device_auth.signature_invalid", "mdoc.device_auth.signature_invalid",
        "mdoc.device_auth.signature_invalid",
      ]))
  func `an answer that was given to another origin is refused, and the report names it`(
    name: String, expected: String
  ) async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: name)
      let data = try #require(session["requests"]?.array?.first?["data"])
      // Another origin of the same relying party, which could show a stolen request.
      let answer = try MockWallet(authority: bed.mode.authority).answer(
        digitalCredential: name, data: data, origin: bed.mode.baseURL, at: bed.clock.now)
      let reply = try await bed.submit(["protocol": .string(name), "data": answer.data], to: session)
      #expect(reply.json["status"] == "failed")
      #expect(reply.json["last_error"]?["code"]?.string == expected, "\(reply.body)")
      #expect(VariantTests.personal.filter { reply.body.contains($0) } == [])
      #expect(reply.json["report"]?.text().contains(bed.mode.baseURL) == true)
      let secret = try #require(session["client_secret"]?.string)
      #expect(!(try await bed.api.with(secret).get(TestBed.path(session))).body.contains(bed.mode.baseURL))
    }
  }

  /// A session belongs to one relying party only, even for wallets' calls.
  @Test func `an answer posted under another relying party's name finds no session`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: "openid4vp")
      let answer = try await bed.mockAnswer(session)
      let fields = "response=\(answer["data"]?["response"]?.string ?? "")"
      let reply = try await bed.api.with(nil).call(
        "POST", "/v1/wallet/other/\(session["id"]?.string ?? "")/response", Array(fields.utf8),
        ["Content-Type": "application/x-www-form-urlencoded"])
      #expect(reply.status == 404 && reply.code == "session.not_found")
      #expect(try await bed.postForm(answer["data"] ?? .null, to: session).status == 200)
    }
  }
}
