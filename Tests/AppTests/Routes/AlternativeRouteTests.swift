import Base
import Mock
import TestSupport
import Testing

@testable import App

/// Elements of one draft in place of another's, over HTTP with the mock wallet.
@Suite(.onOwnThreads) struct AlternativeRouteTests {
  private static let namespace = "org.iso.23220.1"

  private static func reference(_ name: String) -> JSON {
    ["namespace": .string(namespace), "identifier": .string(name)]
  }

  private static func creation(_ name: String) -> JSON {
    let element: JSON = [
      "namespace": .string(namespace), "identifier": "family_name", "intent_to_retain": true,
      "alternatives": [reference("family_name_unicode"), reference("family_name_latin1")],
    ]
    return [
      "protocols": [.string(name)], "origin": .string(TestBed.origin),
      "documents": [["doc_type": "org.iso.23220.photoid.1", "elements": [element]]],
    ]
  }

  /// The mock wallet's photo ID is one of the older draft.
  @Test(arguments: ["org-iso-mdoc", "openid4vp-v1-signed", "iso-18013-5-proximity", "openid4vp"])
  func `a photo ID of either draft answers`(name: String) async throws {
    try await withTestMode { bed in
      var creation = Self.creation(name).object ?? []
      if name.hasPrefix("iso-") || name == "openid4vp" { creation.removeAll { $0.name == "origin" } }
      let session = try await bed.api.post("/v1/verification_sessions", .object(creation))
      #expect(session.status == 201, "\(session.body)")
      let answer = try await bed.api.post(
        "/v1/test/mock_responses",
        ["session": session.json["id"] ?? "", "elements": [Self.reference("family_name_unicode")]])
      let reply = try await bed.submit(answer.json, to: session.json)
      let document = reply.json["result"]?["documents"]?.array?.first
      #expect(document?["elements"]?[Self.namespace] == ["family_name_unicode": "Morgan"], "\(reply.body)")
      #expect(document?["missing_elements"] == [] && document?["document_request_index"] == 0)
    }
  }
}
