import Base
import Cryptography
import Mock
import Sessions
import TestSupport
import Testing

@testable import App

/// Evidence, from the response to the repeated verification of the bundle.
@Suite(.onOwnThreads) struct EvidenceRouteTests {
  static let protocols = ["apple-in-app"] + ProtocolFamily.web.protocolNames + WalletRouteTests.protocols

  @Test(arguments: protocols)
  func `a bundle is verified again to the same report and result`(name: String) async throws {
    let key = try TestBed.evidenceKey()
    try await withTestMode(evidenceKey: key) { bed in
      let session = try await bed.answered(by: name)
      #expect(session["status"] == "verified" && session["evidence"] == "kept", "\(session)")
      let sealed = try #require(try await bed.bundle(of: session))
      let bundle = try EvidenceBundle(opening: sealed, with: [key])
      #expect(bundle.session.text == session["id"]?.string && bundle.relyingParty == "test")
      #expect(bundle.mode == .test && bundle.protocolName == name)
      // Neither the server nor its publisher nor its clock is used.
      let (json, fault) = EvidenceRendering.json(bundle, await bundle.verify())
      #expect(fault == nil, "\(json)")
      #expect(json["status"] == "verified" && json["livemode"] == false)
      #expect(json["report"] == session["report"])
      #expect(json["result"] == session["result"])
      let read = try await bed.api.get(TestBed.path(session))
      #expect(read.json["evidence"] == "kept" && read.json["report"] == json["report"])
    }
  }

  @Test(arguments: ["status-valid", "identifiers-others", "status-jwt"])
  func `the lists of its revocation are in it`(variant: String) async throws {
    let key = try TestBed.evidenceKey()
    try await withTestMode(evidenceKey: key) { bed in
      // The second one's lists come from memory.
      for _ in 0..<2 {
        let session = try await bed.answered(variant: variant)
        #expect(session["evidence"] == "kept", "\(session)")
        let bundle = try EvidenceBundle(opening: try #require(try await bed.bundle(of: session)), with: [key])
        let (json, fault) = EvidenceRendering.json(bundle, await bundle.verify())
        #expect(fault == nil && json["report"] == session["report"])
        #expect(json["result"]?["documents"]?.array?.first?["revocation"] == "good")
      }
    }
  }

  @Test(arguments: ["crl-unreachable", "status-unreachable", "crl-stale", "status-bad-signature"])
  func `what nobody knew about revocation stays unknown`(variant: String) async throws {
    let key = try TestBed.evidenceKey()
    try await withTestMode(revocation: .allowUndetermined, evidenceKey: key) { bed in
      let session = try await bed.answered(variant: variant)
      #expect(session["evidence"] == "kept", "\(session)")
      let bundle = try EvidenceBundle(opening: try #require(try await bed.bundle(of: session)), with: [key])
      let (json, fault) = EvidenceRendering.json(bundle, await bundle.verify())
      #expect(fault == nil && json["report"] == session["report"])
      #expect(json["result"]?["documents"]?.array?.first?["revocation"] == "undetermined")
    }
  }

  @Test func `it is declined where one disclosed element was not to be retained`() async throws {
    let key = try TestBed.evidenceKey()
    try await withTestMode(evidenceKey: key) { bed in
      let cases: [(elements: [(String, Bool)], ageOver: [Int64], variant: String, evidence: JSON)] = [
        ([("given_name", true)], [], "good", "kept"),
        ([("given_name", true), ("family_name", false)], [], "good", "declined"),
        // `age_over` requests an element that must not be kept. An element requested by name may be kept.
        ([("given_name", true)], [21], "good", "declined"),
        ([("given_name", true), ("age_over_21", true)], [21], "good", "kept"),
        // The response also has unrequested elements.
        ([("given_name", true)], [], "elements-unrequested", "declined"),
        // Unread parts cannot be removed from it either.
        ([("given_name", true)], [], "unknown-members", "declined"),
        ([("given_name", true)], [], "zk-documents-beside", "declined"),
      ]
      for (elements, ageOver, variant, evidence) in cases {
        let session = try await bed.answered(by: "org-iso-mdoc", elements, ageOver: ageOver, variant: variant)
        #expect(session["status"] == "verified" && session["evidence"] == evidence, "\(elements) \(variant)")
        let hasBundle = try await bed.bundle(of: session) != nil
        #expect(hasBundle == (evidence == "kept"))
      }
      let elements = [("given_name", true)]
      let unknown = try await bed.answered(by: "openid4vp", elements, variant: "openid4vp-unknown-parameter")
      #expect(unknown["status"] == "verified" && unknown["evidence"] == "declined")
    }
  }

  @Test func `a failed answer leaves none, and no member`() async throws {
    let key = try TestBed.evidenceKey()
    try await withTestMode(evidenceKey: key) { bed in
      for variant in ["digest-truncated", "status-revoked", "apple-simulator"] {
        let session = try await bed.answered(variant: variant)
        #expect(session["status"] == "failed" && session["evidence"] == nil)
        #expect(try await bed.bundle(of: session) == nil)
      }
    }
  }

  @Test func `without the policy there is neither bundle nor member`() async throws {
    try await withTestMode { bed in
      let session = try await bed.answered()
      #expect(session["status"] == "verified" && session["evidence"] == nil)
      #expect(try await bed.bundle(of: session) == nil)
    }
  }

  @Test func `redaction erases it`() async throws {
    let key = try TestBed.evidenceKey()
    try await withTestMode(evidenceKey: key) { bed in
      let session = try await bed.answered()
      #expect(try await bed.bundle(of: session) != nil)
      let redacted = try await bed.api.post(TestBed.path(session) + "/redact")
      #expect(redacted.json["status"] == "redacted" && redacted.json["evidence"] == nil)
      #expect(try await bed.bundle(of: session) == nil)
    }
  }

  @Test func `it is for keys that may read results, and unknown ids are unknown`() async throws {
    let key = try TestBed.evidenceKey()
    try await withTestMode(evidenceKey: key) { bed in
      let session = try await bed.answered()
      #expect(try await bed.api.with(nil).get(TestBed.path(session) + "/evidence").status == 401)
      for id in ["vs_0000000000000000000000", "x"] {
        let reply = try await bed.api.get("/v1/verification_sessions/\(id)/evidence")
        #expect(reply.status == 404 && reply.code == "session.not_found")
      }
    }
  }
}

/// Sessions of a relying party that asks for evidence.
extension TestBed {
  static func evidenceKey(_ byte: UInt8 = 9) throws -> EvidenceKey {
    try EvidenceKey(SecretBytes(copying: [UInt8](repeating: byte, count: EvidenceKey.length)))
  }

  /// Elements of the mDL, each with its intent; those of the standard request without its age.
  static let retained: [(String, Bool)] = MockRequest.standard.documents[0].elements.map { ($0.identifier, true) }

  /// Requests by one protocol, and submits the mock wallet's response.
  func answered(
    by name: String = "apple-in-app", _ elements: [(String, Bool)] = retained, ageOver: [Int64] = [],
    variant: String = "good"
  ) async throws -> JSON {
    let session = try await asked(by: name, elements, ageOver: ageOver)
    let reply = try await submit(mockAnswer(session, variant: variant), to: session)
    #expect(reply.status == 200, "\(reply.body)")
    return reply.json
  }

  func asked(
    by name: String, _ elements: [(String, Bool)] = retained, ageOver: [Int64] = []
  ) async throws -> JSON {
    let document: JSON = [
      "doc_type": .string(MockDocType.mDL),
      "elements": .array(
        elements.map { identifier, retains in
          [
            "namespace": .string(MockNamespace.mDL), "identifier": .string(identifier),
            "intent_to_retain": .bool(retains),
          ]
        }),
      "age_over": .array(ageOver.map { .integer($0) }),
    ]
    let isWeb = ProtocolFamily(ofProtocol: name) == .web
    let created = try await api.post(
      "/v1/verification_sessions",
      .members([
        "protocols": [.string(name)], "documents": [document], "origin": isWeb ? .string(TestBed.origin) : nil,
      ]))
    #expect(created.status == 201, "\(created.body)")
    return created.json
  }

  /// The sealed bundle; nil if there is none.
  func bundle(of session: JSON, as token: String? = nil) async throws -> [UInt8]? {
    let reply = try await api.with(token ?? api.token).get(TestBed.path(session) + "/evidence")
    guard reply.status == 200 else {
      #expect(reply.code == "api.not_found")
      return nil
    }
    return reply.head.bytes
  }
}
