import Base
import Cryptography
import Mock
import Sessions
import Testing

@testable import App

/// Sessions of a relying party that asks for evidence.
extension TestBed {
  static func evidenceKey(_ byte: UInt8 = 9) throws -> EvidenceKey {
    try EvidenceKey(SecretBytes(copying: [UInt8](repeating: byte, count: EvidenceKey.length)))
  }

  /// Elements of the mDL, each with its intent; those of the standard request without its age.
  static let retained: [(String, Bool)] = MockRequest.standard.documents[0].elements.map { ($0.identifier, true) }

  /// Asks by one protocol, and hands in what the mock wallet answers.
  func answered(
    by name: String = "apple-in-app", _ elements: [(String, Bool)] = retained, ageOver: [Int64] = [],
    variant: String = "good"
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
    let reply = try await submit(mockAnswer(created.json, variant: variant), to: created.json)
    #expect(reply.status == 200, "\(reply.body)")
    return reply.json
  }

  /// The sealed bundle; nil where there is none.
  func bundle(of session: JSON, as token: String? = nil) async throws -> [UInt8]? {
    let reply = try await api.with(token ?? api.token).get(TestBed.path(session) + "/evidence")
    guard reply.status == 200 else {
      #expect(reply.code == "api.not_found")
      return nil
    }
    return reply.head.bytes
  }
}
