import Base
import Cryptography
import PKIX
import Sessions
import TestSupport
import Testing

@testable import App
@testable import Mock

/// Staging: anchors of sandboxes are trusted, and nothing else is laxer than in live mode.
@Suite(.onOwnThreads) struct StagingTests {
  /// A folder whose only anchor is of the tier `test`.
  private static func sandbox(_ path: String, _ changes: [String: JSON] = ["mode": "staging"]) throws -> LiveFolder {
    let folder = try LiveFolder(path)
    try folder.write("trust/iaca.json", Array(#"{ "tier": "test", "doc_types": ["org.iso.18013.5.1.mDL"] }"#.utf8))
    try folder.writeConfiguration(changes)
    return folder
  }

  /// Creates a session, and submits the mock wallet's response with documents below the root of the folder.
  private static func answer(_ variant: MockVariant, to api: APIClient, _ folder: LiveFolder) async throws
    -> APIClient.Reply
  {
    let document: JSON = [
      "doc_type": .string(MockDocType.mDL),
      "elements": [
        ["namespace": .string(MockNamespace.mDL), "identifier": "given_name", "intent_to_retain": true]
      ],
    ]
    let session = try await api.post(
      "/v1/verification_sessions", ["protocols": ["apple-in-app"], "documents": [document]])
    let nonce = try #require(session.json["requests"]?.array?.first?["data"]?["nonce"]?.string)
    let wallet = MockWallet(authority: try MockAuthority(seed: Array("live".utf8)))
    let request = MockRequest(documents: [
      .init(
        docType: MockDocType.mDL, elements: [(namespace: MockNamespace.mDL, identifier: "given_name")])
    ])
    let answer = try wallet.answerApple(
      request,
      session: MockAppleSession(
        nonce: Base64.decode(nonce) ?? [], merchantID: "merchant.example.shop", teamID: "ABCDE12345",
        recipientKey: folder.merchantKey.publicKey),
      variant: variant, at: .systemNow())
    return try await api.post(
      TestBed.path(session.json) + "/submit",
      ["protocol": "apple-in-app", "data": ["encrypted_data": .string(Base64.encode(answer.bytes))]])
  }

  /// A document as a sandbox issues it, without a test marker.
  private static let ofSandbox = MockVariant(
    "sandbox", "Below a root of one's own.",
    .init(Stages.setup) { $0.signer.certificate[oid: MockCertificateMarker.oid] = nil })

  @Test func `a sandbox's document verifies, and audit entry and evidence say the mode`() async throws {
    try await withFolder { path in
      let party =
        (LiveFolder.party.object ?? []) + [
          .init("revocation", "off"), .init("evidence", ["key": "evidence.key"]),
        ]
      let folder = try Self.sandbox(
        path, ["mode": "staging", "node": "staging-1", "relying_parties": [.object(party)]])
      try await folder.serve { _, api, _ in
        let session = try await Self.answer(Self.ofSandbox, to: api, folder).json
        #expect(session["status"] == "verified" && session["livemode"] == false, "\(session)")
        let sealed = try await api.get(TestBed.path(session) + "/evidence").head.bytes
        let key = try EvidenceKey(SecretBytes(copying: (32..<64).map { UInt8($0) }))
        let bundle = try EvidenceBundle(opening: sealed, with: [key])
        let (json, fault) = EvidenceRendering.json(bundle, await bundle.verify())
        #expect(fault == nil && json["livemode"] == false && json["mode"] == "staging", "\(json)")
        #expect(json["report"] == session["report"])
        let audit = try AuditSource.open(configurationFile: folder.configurationFile)
        let node = try #require(NodeName("staging-1"))
        let entries = try await audit.auditEntries(of: node, after: 0, limit: 9).links
        let entry = try JSON(parsing: try #require(entries.first).entry)
        #expect(entries.count == 1 && entry["livemode"] == false && entry["mode"] == "staging")
      }
    }
  }

  @Test func `an anchor of the tier test counts in staging alone`() async throws {
    try await withFolder { path in
      let folder = try Self.sandbox(path)
      #expect(ConfigurationCheck(path: folder.configurationFile).problems == [])
      for changes: [String: JSON] in [[:], ["mode": "live"]] {
        try folder.writeConfiguration(changes)
        let problems = ConfigurationCheck(path: folder.configurationFile).problems
        #expect(problems.map(\.pointer) == ["/trust"])
        #expect(problems.first?.detail.hasPrefix("no trust anchor for live mode") == true)
      }
    }
  }

  @Test func `an anchor of the tier live counts in staging as well`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeConfiguration(["mode": "staging"])
      #expect(ConfigurationCheck(path: folder.configurationFile).problems == [])
    }
  }

  @Test func `every reply of a staging server says so`() async throws {
    try await withFolder { path in
      try await Self.sandbox(path).serve { server, api, log in
        #expect(server.mode == .staging)
        let session = try await api.post("/v1/verification_sessions", TestBed.body(.standard))
        #expect(session.status == 201 && session.json["livemode"] == false)
        for path in ["/healthz", "/readyz"] {
          let reply = try await api.get(path)
          #expect(reply.status == 200 && reply.json["livemode"] == false && reply.json["mode"] == "staging")
        }
        #expect(try await api.get("/metrics").body.contains("mdoc_info{mode=\"staging\","))
        let started = try #require(log.all.first { $0.contains("server.started") })
        #expect(started.contains(#""livemode":false,"mode":"staging""#))
      }
    }
  }

  @Test func `there is no mock wallet and no page in staging`() async throws {
    try await withFolder { path in
      try await Self.sandbox(path).serve { _, api, _ in
        let session = try await api.post("/v1/verification_sessions", TestBed.body(.standard))
        for path in ["mock_responses", "opened_mock_responses", "diagnostics"] {
          let mock = try await api.post("/v1/test/\(path)", ["session": session.json["id"] ?? ""])
          #expect(mock.status == 404 && mock.code == "api.not_found", "\(path)")
        }
        #expect(try await api.get("/playground").status == 404)
      }
    }
  }

  @Test func `mock documents are not believed in staging, and their values are not shown`() async throws {
    try await withFolder { path in
      let folder = try Self.sandbox(path)
      try await folder.serve { _, api, _ in
        // The sandbox's own root, whose signers have the mock's marker.
        let reply = try await Self.answer(.good, to: api, folder)
        let reasons = (reply.json["last_error"]?["reasons"]?.array ?? []).compactMap { $0["code"]?.string }
        #expect(reply.json["status"] == "failed" && reasons == ["trust.test_certificate"])
        #expect(reply.json["result"] == .null && reply.json["simulated_result"] == nil)
      }
    }
  }

  @Test func `a root of the mock authority stops a start in staging`() async throws {
    try await withFolder { path in
      let folder = try Self.sandbox(path)
      let mock = try MockAuthority(seed: [1]).anchor(at: .systemNow())
      try folder.write("trust/mock.pem", Array(PEM.encode(certificate: mock.certificate).utf8))
      try folder.write("trust/mock.json", Array(#"{ "tier": "test" }"#.utf8))
      let problems = ConfigurationCheck(path: folder.configurationFile).problems
      #expect(problems.map(\.pointer) == ["/trust"])
      #expect(problems.first?.detail.contains("is a test anchor: made by the mock authority") == true)
    }
  }

  /// A conformance suite is tried in staging, and its authority's private key is published.
  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func `an anchor with a published key is warned of in staging and refused in live mode`() async throws {
    try await withFolder { path in
      let folder = try Self.sandbox(path)
      try folder.write("trust/published.pem", PublishedVectors.bytes("isomdl-certs/owf_multipaz_iaca_p384.pem"))
      let staging = ConfigurationCheck(path: folder.configurationFile)
      let warnings = staging.warnings.filter { $0.contains("its key is a published test key") }
      #expect(staging.problems == [] && warnings.count == 1)
      #expect(warnings.first?.contains("published.pem: trust.test_certificate") == true, "\(warnings)")
      try folder.writeConfiguration()
      let problems = ConfigurationCheck(path: folder.configurationFile).problems
      #expect(problems.map(\.pointer) == ["/trust"])
      #expect(problems.first?.detail.contains("openwallet-foundation/multipaz") == true, "\(problems)")
    }
  }

  /// A document that anyone can forge, below a correct anchor.
  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func `a document that is signed by a published key is refused in live mode, and warned of in staging`() async throws {
    let key = try PrivateKey(
      curve: .p256, scalar: PublishedVectors.bytes("iso18013-5-annexD/D.5.2-iaca-private-scalar.bin"))
    let forged = MockVariant(
      "forged", "Signed by a published key.",
      .init(Stages.setup) {
        $0.signer.certificate[oid: MockCertificateMarker.oid] = nil
        $0.signer.certificate.publicKeyInfo = SubjectPublicKeyInfo.der(of: key.publicKey)
        $0.signer.key = key
      })
    for (mode, status) in [("live", "failed"), ("staging", "verified")] {
      try await withFolder { path in
        let party = JSON.object((LiveFolder.party.object ?? []) + [.init("revocation", "off")])
        let folder = try LiveFolder(path)
        try folder.writeConfiguration(["mode": .string(mode), "relying_parties": [party]])
        try await folder.serve { _, api, _ in
          let reply = try await Self.answer(forged, to: api, folder)
          #expect(reply.json["status"]?.string == status, "\(reply.body)")
          let reasons = (reply.json["last_error"]?["reasons"]?.array ?? []).compactMap { $0["code"]?.string }
          #expect(reasons == (mode == "live" ? ["trust.test_certificate"] : []))
        }
      }
    }
  }

  /// As the OpenID Foundation's suite has it: an authority with a published key that signs documents itself.
  @Test(.enabled(if: PublishedVectors.areHere, "the published vectors are not here"))
  func `a self-signed authority that signs documents verifies where it is pinned, in staging alone`() async throws {
    let key = try PrivateKey(
      curve: .p256, scalar: PublishedVectors.bytes("iso18013-5-annexD/D.5.2-iaca-private-scalar.bin"))
    let suite: @Sendable (inout MockSigner) -> Void = { signer in
      signer.certificate[oid: MockCertificateMarker.oid] = nil
      signer.certificate.issuer = signer.certificate.subject
      signer.certificate.certify(SubjectPublicKeyInfo.info(of: key.publicKey))
      signer.certificate[oid: CertificateExtension.authorityKeyIdentifierOID] = nil
      signer.certificate.extensions.append(.basicConstraints(isCA: true, pathLength: 0))
      signer.key = key
      signer.issuerKey = key
    }
    let authority = try MockAuthority(seed: Array("live".utf8))
    var signer = try MockSigner(authority: authority, under: authority.certificateIssuer(.good), at: .systemNow())
    suite(&signer)
    let certificate = try signer.chain()[0]
    let answer = MockVariant("suite", "Signed by an authority.", .init(Stages.setup) { suite(&$0.signer) })
    for (relaxed, codes) in [(true, []), (false, ["trust.certificate.is_ca"])] {
      try await withFolder { path in
        let party = JSON.object((LiveFolder.party.object ?? []) + [.init("revocation", "off")])
        let folder = try LiveFolder(path)
        try folder.write("trust/suite.pem", Array(PEM.encode(certificate: certificate).utf8))
        var settings: [String: JSON] = [
          "kind": "document_signer", "tier": "test", "doc_types": [.string(MockDocType.mDL)],
        ]
        if relaxed { settings["relax"] = ["trust.certificate.is_ca"] }
        try folder.write("trust/suite.json", JSON.object(settings.map { JSON.Member($0.key, $0.value) }).serialized())
        try folder.writeConfiguration(["mode": "staging", "relying_parties": [party]])
        try await folder.serve { _, api, _ in
          let reply = try await Self.answer(answer, to: api, folder)
          let reasons = (reply.json["last_error"]?["reasons"]?.array ?? []).compactMap { $0["code"]?.string }
          #expect(reply.json["status"] == (relaxed ? "verified" : "failed") && reasons == codes, "\(reply.body)")
        }
        try folder.writeConfiguration(["relying_parties": [party]])
        let problems = ConfigurationCheck(path: folder.configurationFile).problems
        #expect(problems.map(\.pointer) == ["/trust"])
        #expect(problems.first?.detail.contains("its key is a published test key") == true, "\(problems)")
      }
    }
  }

  @Test func `a list may have a signer of the tier test, and whom it names is of that tier`() async throws {
    try await withFolder { path in
      let list: JSON = ["name": "sandbox", "vical": "https://lists.example/vc", "signer_anchors": ["trust/iaca.pem"]]
      let folder = try Self.sandbox(path, ["mode": "staging", "trust": ["trust/", list]])
      #expect(ConfigurationCheck(path: folder.configurationFile).problems == [])
      try folder.writeConfiguration(["trust": [list]])
      #expect(ConfigurationCheck(path: folder.configurationFile).problems.map(\.pointer) == ["/trust/0/signer_anchors"])
    }
  }

  @Test func `staging needs a sealing key`() async throws {
    try await withFolder { path in
      let folder = try Self.sandbox(path, ["mode": "staging", "sealing_keys": []])
      #expect(ConfigurationCheck(path: folder.configurationFile).problems.map(\.pointer) == ["/sealing_keys"])
    }
  }

  @Test func `a store of staging is served by no live server, and the reverse`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      for (first, second) in [("staging", "live"), ("live", "staging")] {
        try folder.writeConfiguration(["mode": .string(first), "store": .string("sqlite:\(first).sqlite")])
        await (try folder.start()).stop()
        try folder.writeConfiguration(["mode": .string(second), "store": .string("sqlite:\(first).sqlite")])
        let error = #expect(throws: StartError.self) { try folder.start() }
        #expect(error?.exitCode == 78 && error?.message.contains("is a store of \(first) mode") == true)
      }
    }
  }
}
