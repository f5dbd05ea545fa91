import Base
import CBOR
import Longfellow
import Mdoc
import Mock
import Presentation
import Sessions
import TestSupport
import Testing

@testable import App
@testable import TestMode

/// Every in-app variant of the mock wallet over HTTP: the right codes, and no personal data anywhere.
@Suite(.onOwnThreads) struct VariantTests {
  static let variants = MockVariant.all.filter { $0.holds(over: "apple-in-app") }

  /// Values that only the person's documents have, as a reply or a log would write them.
  static let personal = [
    "Morgan", "\"Ada\"", "1990-04-12", "M18013505", "P23220401", "52 Example Avenue",
    String(Base64.encode(MockPerson.mDL.portraitBytes).prefix(48)),
  ]

  private static let simulated = [["apple.simulator_answer"], ["apple.profile_answer"]]

  @Test func `every variant fails with exactly its codes and gives nothing away`() async throws {
    #expect(Self.variants.count > 100)
    try await withTestMode { bed in
      var nonces: [String] = []
      for variant in Self.variants {
        let session = try await bed.createSession(variant.request)
        nonces.append(session["requests"]?.array?.first?["data"]?["nonce"]?.string ?? "")
        let reply = try await bed.submit(bed.mockAnswer(session, variant: variant.name), to: session)
        #expect(reply.status == 200)
        let codes = variant.codes.map(\.rawValue)
        let error = reply.json["last_error"]
        let reasons = (error?["reasons"]?.array ?? []).compactMap { $0["code"]?.string }
        #expect(reply.json["status"]?.string == (codes.isEmpty ? "verified" : "failed"), "\(variant.name)")
        #expect(error?["code"]?.string == codes.first, "\(variant.name)")
        #expect(Set(reasons) == Set(codes), "\(variant.name)")
        if !codes.isEmpty {
          #expect(reply.json["result"] == .null)
          // Test mode shows the data of Apple's simulator and test profile beside the rejection, and no other rejected
          // data.
          let rest = (reply.json.object ?? []).filter { $0.name != "simulated_result" }
          #expect(Self.leaks(in: JSON.object(rest).text()) == [], "\(variant.name)")
          let isShown = reply.json["simulated_result"] != nil
          #expect(!isShown || Self.simulated.contains(codes), "\(variant.name)")
          if variant.name == "apple-simulator" { #expect(isShown) }
          let report = try await bed.api.get(
            "/v1/verification_reports/\(reply.json["report"]?["id"]?.string ?? "none")")
          #expect(report.status == 200)
          #expect(Self.leaks(in: report.body) == [], "\(variant.name)")
        }
      }
      let metrics = try await bed.api.with(nil).get("/metrics")
      let scalar = try TestSecrets(seed: Array("tests".utf8)).encryptionKey.scalar().exposed()
      let secrets =
        nonces + [
          bed.mode.apiKey, Hex.encode(scalar), String(Base64.encode(scalar).dropLast()), Base64.encodeURLSafe(scalar),
        ]
      for text in [bed.log.text, metrics.body] {
        #expect(Self.leaks(in: text) == [])
        #expect(secrets.filter { text.contains($0) } == [])
        #expect(!text.contains("vcs_"))
      }
      Self.expectCounts(in: metrics.body)
    }
  }

  private static func leaks(in text: String) -> [String] { personal.filter { text.contains($0) } }

  /// One count for each first code.
  private static func expectCounts(in metrics: String) {
    for (code, variants) in Dictionary(grouping: variants, by: { $0.codes.first }) {
      let outcome = code == nil ? "verified" : "failed"
      let sample =
        "mdoc_verifications_total{outcome=\"\(outcome)\",code=\"\(code?.rawValue ?? "")\"} \(variants.count)\n"
      #expect(metrics.contains(sample), "\(sample)")
    }
  }

  @Test func `an unknown variant is refused with a hint`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession()
      let reply = try await bed.api.post(
        "/v1/test/mock_responses", ["session": session["id"] ?? "", "variant": "goood"])
      #expect(reply.status == 400)
      #expect(reply.errors == ["/variant"])
      #expect(reply.body.contains("did you mean `good`"))
      for body: JSON in [
        [:], ["session": 1], ["session": session["id"] ?? "", "varient": "good"],
        ["session": session["id"] ?? "", "elements": 1],
        ["session": session["id"] ?? "", "elements": [["namespace": "x"]]],
        ["session": session["id"] ?? "", "elements": ["org.iso.18013.5.1": 1]],
        ["session": session["id"] ?? "", "changes": 1], ["session": session["id"] ?? "", "changes": ["x": 1]],
        ["session": session["id"] ?? "", "elements": ["org.iso.18013.5.1": ["birth_date": ["full_date": "x"]]]],
      ] {
        #expect(try await bed.api.post("/v1/test/mock_responses", body).status == 400)
      }
      let unknown = try await bed.api.post("/v1/test/mock_responses", ["session": "vs_0000000000000000000000"])
      #expect(unknown.code == "session.not_found")
      let members = (0..<100).map { JSON.Member("m\($0)", 1) }
      let many = try await bed.api.post("/v1/test/mock_responses", .object(members))
      #expect(many.code == "api.unknown_member")
      #expect(many.errors.count == Limits.reportedFaults)
    }
  }

  /// As before the contract had `changes`.
  @Test func `an object in elements changes documents too`() throws {
    let changes: JSON = ["org.iso.18013.5.1": ["given_name": "Grace"]]
    let read = try MockResponseInput.shape.value(of: ["session": "vs_1", "elements": changes])
    #expect(!read.isRestricted)
    let unchanged = try MockResponseInput.shape.value(of: ["session": "vs_1"])
    let names = try [read, unchanged].map { try $0.documents().first?["org.iso.18013.5.1", "given_name"]?.encoded() }
    #expect(names[0] == CBORValue.text("Grace").encoded() && names[1] != names[0])
  }

  @Test func `a variant that does not apply is refused with the reason`() async throws {
    try await withTestMode { bed in
      for (name, variant, reason) in [
        ("apple-in-app", "jwe-zip-bomb", "is for encrypted responses over OpenID4VP 1.0"),
        ("org-iso-mdoc", "apple-mode", "is for responses over apple-in-app"),
        ("openid4vp", "device-mac", "is for responses to a verifier without a reader key"),
        ("iso-18013-5-proximity", "annex-c-truncated", "is for responses over org-iso-mdoc"),
        ("org-iso-mdoc", "document-errors-other-requested", "only one type of document is requested"),
        ("org-iso-mdoc", "zk-tag-bit", "is for responses with a proof"),
      ] {
        let session = try await bed.createSession(by: name)
        for path in ["mock_responses", "opened_mock_responses"] {
          let reply = try await bed.api.post(
            "/v1/test/\(path)", ["session": session["id"] ?? .null, "variant": .string(variant)])
          #expect(reply.status == 400 && reply.errors == ["/variant"], "\(variant)")
          #expect(reply.body.contains(reason), "\(variant): \(reply.body)")
        }
      }
    }
  }

  @Test func `the mock wallet withholds and changes what it is told to`() async throws {
    try await withTestMode { bed in
      func outcome(_ member: String, _ value: JSON) async throws -> JSON {
        let session = try await bed.createSession()
        let answer = try await bed.api.post(
          "/v1/test/mock_responses", .object([.init("session", session["id"] ?? ""), .init(member, value)]))
        return try await bed.submit(answer.json, to: session).json
      }
      let withheld = try await outcome("elements", [["namespace": "org.iso.18013.5.1", "identifier": "given_name"]])
      #expect(withheld["last_error"]?["code"] == "policy.element_missing")
      let changed = try await outcome("changes", ["org.iso.18013.5.1": ["given_name": "Grace"]])
      let elements = changed["result"]?["documents"]?.array?.first?["elements"]?["org.iso.18013.5.1"]
      #expect(elements?["given_name"] == "Grace")
      #expect(elements?["family_name"] == "Morgan")
      let young = try await outcome("changes", ["org.iso.18013.5.1": ["birth_date": ["full_date": "2015-01-31"]]])
      #expect(young["result"]?["documents"]?.array?.first?["age_over"]?.array?.first?["answer"] == false)
    }
  }
}

extension MockDocumentData {
  fileprivate var portraitBytes: [UInt8] {
    if case .bytes(let bytes)? = self[MockNamespace.mDL, "portrait"] { bytes } else { [] }
  }
}

/// Every variant of the mock wallet by each web protocol, over HTTP.
@Suite(.onOwnThreads) struct WebVariantTests {
  @Test(arguments: WebProtocolTests.web + WebProtocolTests.redirect)
  func `every variant of a protocol fails with exactly its codes and gives nothing away`(name: String) async throws {
    let variants = MockVariant.all.filter { $0.applicability != .anyProtocol && $0.holds(over: name) }
    #expect(variants.count > 2)
    try await withTestMode { bed in
      for variant in variants {
        try await bed.judge(variant, by: name)
      }
      #expect(VariantTests.personal.filter { bed.log.text.contains($0) } == [])
    }
  }
}

extension TestBed {
  /// Responds with this variant, and compares the reply with the codes that the variant announces.
  fileprivate func judge(_ variant: MockVariant, by name: String) async throws {
    let session = try await createSession(by: name, asking: variant.request)
    let reply = try await submit(mockAnswer(session, variant: variant.name), to: session)
    #expect(reply.status == 200, "\(variant.name): \(reply.body)")
    let codes = variant.codes.map(\.rawValue)
    let isRefusal = codes.first?.hasPrefix("wallet.") == true
    let status = codes.isEmpty ? "verified" : isRefusal ? "canceled" : "failed"
    #expect(reply.json["status"]?.string == status, "\(variant.name)")
    #expect(reply.json["last_error"]?["code"]?.string == codes.first, "\(variant.name)")
    let reasons = (reply.json["last_error"]?["reasons"]?.array ?? []).compactMap { $0["code"]?.string }
    #expect(Set(reasons) == Set(codes), "\(variant.name)")
    guard !codes.isEmpty else { return }
    #expect(reply.json["result"] == .null)
    #expect(VariantTests.personal.filter { reply.body.contains($0) } == [], "\(variant.name)")
  }
}

/// The mock wallet and a mock reader, in person.
@Suite(.onOwnThreads) struct MeetingTests {
  private static let name = "iso-18013-5-proximity"

  @Test func `every variant fails with exactly its codes and gives nothing away`() async throws {
    let variants = MockVariant.all.filter { $0.holds(over: Self.name) }
    #expect(variants.count > 300)
    try await withTestMode { bed in
      for variant in variants {
        try await bed.judge(variant, by: Self.name)
      }
    }
  }

  @Test func `each meeting has keys of its own, and another's answer does not open`() async throws {
    try await withTestMode { bed in
      let sessions = [try await bed.createSession(by: Self.name), try await bed.createSession(by: Self.name)]
      let answers = [try await bed.mockAnswer(sessions[0]), try await bed.mockAnswer(sessions[1])]
      for member in ["device_engagement", "e_reader_key", "session_data", "reader_private_key"] {
        #expect(answers[0]["data"]?[member] != answers[1]["data"]?[member], "\(member)")
      }
      let other = try #require(answers[1]["data"]?["session_data"])
      var mixed = try #require(answers[0]["data"]?.object)
      mixed.removeAll { $0.name == "session_data" }
      mixed.append(.init("session_data", other))
      let reply = try await bed.submit(["protocol": .string(Self.name), "data": .object(mixed)], to: sessions[0])
      #expect(reply.json["last_error"]?["code"] == "envelope.decryption_failed")
      #expect(try await bed.submit(answers[1], to: sessions[1]).json["status"] == "verified")
    }
  }

  @Test func `the reader's first message has its key and the encrypted request`() async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: Self.name)
      let data = session["requests"]?.array?.first?["data"]
      let request = try #require(data?["device_request"]?.string.flatMap(Base64.decodeURLSafe))
      let meeting = try MockWallet(authority: bed.mode.authority).meet(
        readerAsking: request, occasion: [7], at: bed.clock.now)
      let message = try SessionMessage(parsing: meeting.sessionEstablishment)
      #expect(message.readerKey == meeting.readerKey && message.status == nil)
      #expect(message.data?.count == request.count + 16)
    }
  }
}

/// The mock wallet's plaintext, and CBOR to read.
@Suite(.onOwnThreads) struct OpenedAnswerTests {
  @Test(arguments: BuiltProtocols.all(in: .test).map(\.name).filter { $0 != AgeVerificationProtocol().name })
  func `an opened answer verifies, and its DeviceResponse can be read`(name: String) async throws {
    try await withTestMode { bed in
      let session = try await bed.createSession(by: name)
      let opened = try await bed.api.post(
        "/v1/test/opened_mock_responses", ["session": session["id"] ?? .null, "protocol": .string(name)])
      #expect(opened.status == 200, "\(opened.body)")
      let response = try #require(opened.json["device_responses"]?.array?.first)
      for showsValues in [true, false] {
        let body: JSON = ["cbor": response, "show_values": .bool(showsValues)]
        let notation = try await bed.api.post("/v1/test/diagnostics", body).json["diagnostic"]?.string ?? ""
        #expect(notation.contains("\"issuerAuth\": [") && notation.contains("\"Morgan\"") == showsValues)
      }
      let plain = try await bed.api.post("/v1/test/diagnostics", ["cbor": response]).json["diagnostic"]?.string
      #expect(plain?.contains("Morgan") == false)
      let reply = try await bed.submit(try #require(opened.json["answer"]), to: session)
      #expect(reply.json["status"] == "verified", "\(reply.body)")
    }
  }

  @Test func `what is no CBOR is refused by its place`() async throws {
    try await withTestMode { bed in
      let cases: [(body: JSON, detail: String)] = [
        (["cbor": "gg"], "cbor.truncated at byte 0"), (["cbor": "gg=="], "must be base64url"),
        (["cbor": 1], "base64url"),
        (["cbor": "gA", "show_values": 1], "/show_values"), (["cbor": "gA", "more": true], "/more"),
        ([], "must be an object"),
      ]
      for (body, detail) in cases {
        let reply = try await bed.api.post("/v1/test/diagnostics", body)
        #expect(reply.status == 400 && reply.body.contains(detail), "\(reply.body)")
      }
      #expect(try await bed.api.with(nil).post("/v1/test/diagnostics", ["cbor": "gA"]).status == 401)
    }
  }
}

/// Answers made elsewhere.
@Suite(.onOwnThreads) struct SeedTests {
  @Test func `one seed is one authority, in a server and in files`() async throws {
    for (seed, status) in [("tests", "verified"), ("others", "failed")] {
      try await withTestMode(revocation: .off) { bed in
        let session = try await bed.createSession(by: "org-iso-mdoc")
        let data = try #require(session["requests"]?.array?.first?["data"])
        let wallet = MockWallet(authority: try MockAuthority(seed: Array(seed.utf8)))
        let answer = try wallet.answer(
          digitalCredential: "org-iso-mdoc", data: data, origin: TestBed.origin, at: bed.clock.now)
        let reply = try await bed.submit(["protocol": "org-iso-mdoc", "data": answer.data], to: session)
        #expect(reply.json["status"]?.string == status, "\(reply.body)")
      }
    }
  }
}

/// Wrong proofs over HTTP, by each protocol with its own form of proofs.
@Suite(.onOwnThreads) struct ProofVariantTests {
  /// The largest is rejected for its proof, not for its size: 0.9 MB, and 1.6 MB inside a JWE.
  @Test(
    .enabled(if: PublishedVectors.areHere, "the published vectors are not here"),
    arguments: ["org-iso-mdoc", "openid4vp-v1-unsigned", "openid4vp"])
  func `a wrong proof fails with its code`(name: String) async throws {
    let circuits = try CircuitLibrary(folder: PublishedVectors.folder + "/longfellow/circuits")
    try await withTestMode(circuits: circuits) { bed in
      for variant in ["zk-runs-empty", "zk-tag-bit", "zk-namespace-other"].compactMap(MockVariant.named) {
        let session = try await bed.createSession(by: name, asking: .proofOfAge)
        let reply = try await bed.submit(bed.mockAnswer(session, variant: variant.name), to: session)
        #expect(reply.status == 200, "\(variant.name): \(reply.body)")
        #expect(reply.json["status"] == "failed", "\(variant.name)")
        #expect(reply.json["last_error"]?["code"]?.string == variant.codes.first?.rawValue, "\(variant.name)")
        #expect(reply.json["result"] == .null)
      }
    }
  }

  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func `a variant that exchanges two elements says so where one is proven`() async throws {
    let circuits = try CircuitLibrary(folder: PublishedVectors.folder + "/longfellow/circuits")
    try await withTestMode(circuits: circuits) { bed in
      for variant in ["zk-values-exchanged", "zk-elements-exchanged"] {
        let session = try await bed.createSession(by: "org-iso-mdoc", asking: .proofOfAge)
        let reply = try await bed.api.post(
          "/v1/test/mock_responses", ["session": session["id"] ?? .null, "variant": .string(variant)])
        #expect(reply.status == 400 && reply.body.contains("two are needed"), "\(reply.body)")
      }
    }
  }
}

/// Every document of the mock wallet, by every protocol that can carry it.
@Suite(.onOwnThreads) struct WalletDocumentTests {
  @Test(arguments: MockPerson.allDocuments.map(\.docType), BuiltProtocols.all(in: .test).map(\.name))
  func `it is asked for with all of its elements, and verified`(docType: String, name: String) async throws {
    let document = try #require(MockPerson.allDocuments.first { $0.docType == docType })
    let elements = document.namespaces.flatMap { space in
      space.elements.map { ElementReference(space.name, $0.identifier) }
    }
    let type = AppleDocumentType(docType: docType)
    let isInApp = name == "apple-in-app"
    // In-app requests name Apple's elements, for Apple's documents only.
    let carried = elements.filter { element in
      !isInApp
        || type?.elementNames.contains { apple in
          type?.elementRequests(for: apple, retention: .none, isRequired: true)?.contains { $0.element == element }
            == true
        } == true
    }
    // The European link requests only the configured types.
    guard !carried.isEmpty, name != AgeVerificationProtocol().name || docType == DocType.europeanAgeVerification else {
      return
    }
    try await withTestMode { bed in
      let isWeb = ProtocolFamily(ofProtocol: name) == .web
      let body: JSON = .members([
        "protocols": [.string(name)], "origin": isWeb ? .string(TestBed.origin) : nil,
        "documents": [
          [
            "doc_type": .string(docType),
            "elements": .array(
              carried.map { ["namespace": .string($0.namespace), "identifier": .string($0.identifier)] }),
          ]
        ],
      ])
      let created = try await bed.api.post("/v1/verification_sessions", body)
      #expect(created.status == 201, "\(created.body)")
      let answer = try await bed.mockAnswer(created.json)
      let reply = try await bed.submit(answer, to: created.json)
      #expect(reply.json["status"] == "verified", "\(reply.json["last_error"] ?? .null)")
      let verified = reply.json["result"]?["documents"]?.array?.first
      #expect(verified?["doc_type"]?.string == docType)
      let count = (verified?["elements"]?.object ?? []).reduce(0) { $0 + ($1.value.object?.count ?? 0) }
      #expect(count >= carried.count, "\(name)")
    }
  }
}
