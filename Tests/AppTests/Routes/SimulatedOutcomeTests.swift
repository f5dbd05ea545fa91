import Base
import Cryptography
import Mock
import Sessions
import TestSupport
import Testing

@testable import App

/// Test mode ends a session as a person with a wallet would.
@Suite(.onOwnThreads) struct SimulatedOutcomeTests {
  private static func path(_ session: JSON) -> String {
    "/v1/test/verification_sessions/\(session["id"]?.string ?? "none")/simulate"
  }

  private func simulate(
    _ bed: TestBed, _ session: JSON, _ members: [JSON.Member], as token: String? = nil
  ) async throws -> APIClient.Reply {
    let secret = try #require(session["client_secret"]?.string)
    return try await bed.api.with(token ?? secret).post(Self.path(session), .object(members))
  }

  @Test(
    arguments: [
      ("verified", nil, "verified", nil), ("failed", nil, "failed", "mdoc.device_auth.signature_invalid"),
      ("failed", "mso-expired", "failed", "mdoc.validity.expired"),
      ("canceled", nil, "canceled", "wallet.access_denied"), ("expired", nil, "expired", nil),
    ] as [(String, String?, String, String?)])
  func `a session ends as asked, by each way to a wallet`(
    outcome: String, variant: String?, status: String, code: String?
  ) async throws {
    try await withTestMode { bed in
      for protocols in [["openid4vp"], ["org-iso-mdoc"], ["apple-in-app"], ["openid4vp-v1-signed", "openid4vp"]] {
        let isWeb = protocols.contains { ProtocolFamily(ofProtocol: $0) == .web }
        let reply = try await bed.api.post(
          "/v1/verification_sessions",
          TestBed.body(
            .standard, protocols: protocols, extra: isWeb ? [.init("origin", .string(TestBed.origin))] : []))
        let session = reply.json
        let members: [JSON.Member] = [.init("outcome", .string(outcome))]
        let ended = try await simulate(
          bed, session, members + (variant.map { [.init("variant", .string($0))] } ?? []))
        #expect(ended.status == 200 && ended.json["status"]?.string == status, "\(protocols): \(ended.body)")
        #expect(ended.json["last_error"]?["code"]?.string == code && ended.json["result"] == nil)
        let read = try await bed.api.get(TestBed.path(session) + "?expand[]=result")
        #expect((read.json["result"]?["documents"] != nil) == (status == "verified"), "\(protocols): \(read.body)")
        let again = try await simulate(bed, session, [.init("outcome", "verified")])
        #expect([409, 410].contains(again.status), "\(again.body)")
      }
    }
  }

  @Test(arguments: ["openid4vp", "openid4vp-iso-18013-7-annex-b"])
  func `with the hash of a page's own code, the result is read with that code`(name: String) async throws {
    try await withTestMode { bed in
      let code = "vrc_" + String(repeating: "A", count: 43)
      let hash = Base64.encodeURLSafe(HashAlgorithm.sha256.hash(Array(code.utf8)))
      let reply = try await bed.api.post(
        "/v1/verification_sessions",
        TestBed.body(
          .standard, protocols: [name], extra: [.init("return_url", .string(TestBed.origin + "/done"))]))
      let members: [JSON.Member] = [.init("outcome", "verified"), .init("response_code_sha256", .string(hash))]
      let ended = try await simulate(bed, reply.json, members)
      #expect(ended.json["status"] == "verified", "\(ended.body)")
      let path = TestBed.path(reply.json) + "?expand[]=result"
      #expect(try await bed.api.get(path).status == 403)
      #expect(try await bed.api.get(path + "&response_code=" + code).json["result"]?["documents"] != nil)
    }
  }

  @Test func `it takes the secret of its own session, and says what is wrong`() async throws {
    try await withTestMode { bed in
      let (session, other) = (try await bed.createSession(), try await bed.createSession())
      let secret = other["client_secret"]?.string
      #expect(try await simulate(bed, session, [.init("outcome", "verified")], as: secret).status == 404)
      #expect(try await bed.api.with(nil).post(Self.path(session), ["outcome": "verified"]).status == 401)
      let wrong: [(String, JSON)] = [
        ("outcome", "redacted"), ("variant", "no-such-variant"), ("response_code_sha256", "none"),
      ]
      for (member, value) in wrong {
        let body: [JSON.Member] = member == "outcome" ? [] : [.init("outcome", "failed")]
        let refused = try await simulate(bed, session, body + [.init(member, value)])
        #expect(refused.status == 400 && refused.json["errors"]?.array?.first?["pointer"]?.string == "/" + member)
      }
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "requires_input")
    }
  }

  @Test func `what the mock wallet cannot do with a session is a conflict, and ends nothing`() async throws {
    try await withTestMode { bed in
      let unknown: JSON = [
        "protocols": ["openid4vp"],
        "documents": [
          ["doc_type": "0", "elements": [["namespace": "0", "identifier": "0", "intent_to_retain": false]]]
        ],
      ]
      let created = try await bed.api.post("/v1/verification_sessions", unknown)
      #expect(created.status == 201, "\(created.body)")
      let session = created.json
      for body in [[.init("outcome", "verified")], [.init("outcome", "failed")]] as [[JSON.Member]] {
        let refused = try await simulate(bed, session, body)
        #expect(refused.status == 409 && refused.json["code"] == "session.wrong_state", "\(refused.body)")
        #expect(refused.json["detail"]?.string?.contains("no document of type 0") == true)
      }
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "requires_input")
    }
  }

  @Test func `the page says its mode, and only test mode simulates`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: "openid4vp")
      #expect(try await bed.api.get(TestBed.path(session) + "/page").json["mode"] == "test")
    }
    let names = RouteTable.routes(with: .of(isLive: true)).map(\.name)
    #expect(
      !names.contains("simulateOutcome") && RouteTable.routes(with: .sample).map(\.name).contains("simulateOutcome"))
  }
}
