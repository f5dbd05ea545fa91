import Base
import Mock
import Sessions
import TestSupport
import Testing

@testable import App
@testable import TestMode

/// Test mode reads a link as a wallet does before it asks its holder.
@Suite(.onOwnThreads) struct WalletRequestRouteTests {
  private static let path = "/v1/test/wallet_requests"
  private static let licence = "org.iso.18013.5.1.mDL"
  private static let photoID = "org.iso.23220.photoid.1"

  private static func session(
    _ bed: TestBed, by name: String, _ documents: JSON, extra: [JSON.Member] = []
  ) async throws -> JSON {
    let body: [JSON.Member] = [.init("protocols", [.string(name)]), .init("documents", documents)]
    let reply = try await bed.api.post("/v1/verification_sessions", .object(body + extra))
    try #require(reply.status == 201, "\(reply.body)")
    return reply.json
  }

  private static func link(_ session: JSON) throws -> String {
    try #require(session["requests"]?.array?.first?["data"]?["authorization_request"]?.string)
  }

  private static func read(_ link: String, _ bed: TestBed) async throws -> APIClient.Reply {
    try await bed.api.post(path, ["link": .string(link)])
  }

  private static func failed(_ request: JSON) -> [String] {
    (request["checks"]?.array ?? []).filter { $0["outcome"] == "failed" }.compactMap { $0["code"]?.string }
  }

  private static let kept: JSON = [
    [
      "doc_type": .string(licence),
      "elements": [
        ["namespace": "org.iso.18013.5.1", "identifier": "family_name", "intent_to_retain": true],
        ["namespace": "org.iso.18013.5.1", "identifier": "birth_date"],
      ],
    ]
  ]

  @Test(arguments: ["openid4vp", "openid4vp-iso-18013-7-annex-b"])
  func `a link by reference says who asks for what, and that nothing is wrong`(name: String) async throws {
    try await withTestMode { bed in
      let session = try await Self.session(bed, by: name, Self.kept)
      let (link, id) = (try Self.link(session), try #require(session["id"]?.string))
      // As the session has it, and as a page has it with the hash of its own response code.
      let code = String(repeating: "A", count: 43)
      for link in [link, link.replacing(id, with: "\(id).\(code)")] {
        let reply = try await Self.read(link, bed)
        let request = reply.json
        try #require(reply.status == 200, "\(reply.body)")
        #expect(request["session"]?.string == id && request["protocol"]?.string == name)
        #expect(request["client"]?["name"] == "mdoc Mock Relying Party")
        #expect(request["client"]?["id"] == session["requests"]?.array?.first?["data"]?["client_id"])
        #expect(
          request["documents"] == [
            [
              "doc_type": .string(Self.licence), "label": "Mobile driving licence",
              "elements": [
                [
                  "namespace": "org.iso.18013.5.1", "identifier": "family_name", "label": "Family name",
                  "intent_to_retain": true,
                ],
                [
                  "namespace": "org.iso.18013.5.1", "identifier": "birth_date", "label": "Date of birth",
                  "intent_to_retain": false,
                ],
              ],
            ]
          ])
        #expect(Self.failed(request) == [] && request["checks"]?.array?.contains { $0["outcome"] == "passed" } == true)
        #expect(request["response_uri"]?.string?.contains(code) == link.contains(code))
      }
      #expect(try await bed.api.get(TestBed.path(session)).json["status"] == "requires_input")
    }
  }

  @Test func `a link by value is read from itself`() async throws {
    try await withTestMode { bed in
      let session = try await Self.session(
        bed, by: "openid4vp-eu-age-verification", [["doc_type": "eu.europa.ec.av.1", "age_over": [18]]])
      let reply = try await Self.read(try Self.link(session), bed)
      try #require(reply.status == 200, "\(reply.body)")
      let document = reply.json["documents"]?.array?.first
      #expect(document?["elements"]?.array?.first?["identifier"] == "age_over_18", "\(reply.body)")
      #expect(reply.json["client"]?["id"]?.string?.hasPrefix("redirect_uri:") == true)
      #expect(reply.json["client"]?["name"] == nil && Self.failed(reply.json) == [])
    }
  }

  @Test func `what is wrong with a link is found`() async throws {
    try await withTestMode { bed in
      let link = try Self.link(try await Self.session(bed, by: "openid4vp", Self.kept))
      let changed = link.replacing("client_id=x509_", with: "client_id=other_")
      try #require(changed != link)
      #expect(Self.failed(try await Self.read(changed, bed).json) == ["request.client_id_mismatch"])
    }
  }

  @Test func `a link of another server, or none, is refused by its pointer`() async throws {
    try await withTestMode { bed in
      let link = try Self.link(try await Self.session(bed, by: "openid4vp", Self.kept))
      let inApp = try #require(try await bed.createSession()["id"]?.string)
      let id = try #require(link.firstMatch(of: /vs_\w{22}/)?.output)
      let port = "127.0.0.1%3A\(bed.mode.server.listen.port)"
      let refused = [
        "none", "openid4vp://", "https://verifier.example/",
        "openid4vp://?client_id=a&request_uri=https%3A%2F%2Fverifier.example%2Frequests%2F1",
        link.replacing(port, with: "verifier.example"), link.replacing(id, with: inApp), "openid4vp://?client_id=a",
      ]
      for link in refused {
        let reply = try await Self.read(link, bed)
        #expect(reply.status == 400, "\(link): \(reply.body)")
        #expect(reply.json["errors"]?.array?.first?["pointer"] == "/link", "\(link): \(reply.body)")
      }
      let unknown = try await Self.read(link.replacing(id, with: "vs_" + String(repeating: "A", count: 22)), bed)
      #expect(unknown.code == "session.not_found")
    }
  }

  @Test func `the link of a session that is over says so`() async throws {
    try await withTestMode { bed in
      let (used, redacted, late) = (
        try await Self.session(bed, by: "openid4vp", Self.kept),
        try await Self.session(bed, by: "openid4vp", Self.kept),
        try await Self.session(bed, by: "openid4vp", Self.kept)
      )
      let answer = try await bed.mockAnswer(used)
      #expect(try await bed.postForm(answer["data"] ?? .null, to: used).status == 200)
      #expect(try await Self.read(try Self.link(used), bed).code == "session.already_used")
      #expect(try await bed.api.post(TestBed.path(redacted) + "/redact").status == 200)
      #expect(try await Self.read(try Self.link(redacted), bed).code == "session.redacted")
      bed.clock.advance(3_600)
      #expect(try await Self.read(try Self.link(late), bed).code == "session.expired")
    }
  }

  @Test func `the wallet has the documents that the person puts in it`() async throws {
    try await withTestMode { bed in
      let asked: JSON = .array(
        [
          (Self.licence, "org.iso.18013.5.1", "birth_date"), (Self.photoID, "org.iso.23220.1", "sex"),
        ].map { type, namespace, identifier in
          [
            "doc_type": .string(type),
            "elements": [["namespace": .string(namespace), "identifier": .string(identifier)]],
          ]
        })
      for (types, verified) in [([Self.photoID], Self.photoID), ([Self.licence], Self.licence)] {
        let session = try await Self.session(bed, by: "openid4vp", asked)
        let held: JSON = [
          "session": session["id"] ?? .null, "doc_types": .array(types.map { .string($0) }),
        ]
        let answer = try await bed.api.post("/v1/test/mock_responses", held).json
        #expect(try await bed.postForm(answer["data"] ?? .null, to: session).status == 200)
        let result = try await bed.api.get(TestBed.path(session) + "?expand[]=result").json["result"]
        #expect(result?["documents"]?.array?.map { $0["doc_type"] } == [.string(verified)], "\(result ?? .null)")
      }
      let session = try await Self.session(bed, by: "openid4vp", asked)
      let empty = try await bed.api.post(
        "/v1/test/mock_responses", ["session": session["id"] ?? .null, "doc_types": []])
      #expect(empty.json["errors"]?.array?.first?["pointer"] == "/session", "\(empty.body)")
    }
  }
}
