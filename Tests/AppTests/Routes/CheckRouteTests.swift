import Base
import PKIX
import Presentation
import Sessions
import TestSupport
import Testing

@testable import App
@testable import TestMode

/// Test mode's verdict on bytes that a person supplies.
@Suite(.onOwnThreads) struct CheckRouteTests {
  private static let path = "/v1/test/checks"

  /// A mock wallet's DeviceResponse with its transcript, as the body of a check.
  private static func body(_ bed: TestBed, variant: String = "good") async throws -> [String: JSON] {
    let session = try await bed.createSession(by: "org-iso-mdoc")
    let opened = try await bed.api.post(
      "/v1/test/opened_mock_responses", ["session": session["id"] ?? .null, "variant": .string(variant)])
    let info = try #require(session["requests"]?.array?.first?["data"]?["encryptionInfo"]?.string)
    let transcript = AnnexCChallenge.transcript(encryptionInfo: info, origin: TestBed.origin)
    return [
      "response": try #require(opened.json["device_responses"]?.array?.first),
      "session_transcript": .string(Base64.encodeURLSafe(transcript.encoded)),
    ]
  }

  private static func json(_ body: [String: JSON]) -> JSON { .object(body.map { .init($0.key, $0.value) }) }

  @Test func `it gives the verdict under the mock authority, and keeps nothing`() async throws {
    try await withTestMode { bed in
      let body = try await Self.body(bed)
      let before = try await bed.api.get("/v1/audit/heads").body
      let checked = try await bed.api.post(Self.path, Self.json(body))
      #expect(checked.json["status"] == "verified" && checked.json["single_use"] == "caller")
      let elements = checked.json["result"]?["documents"]?.array?.first?["elements"]
      #expect(elements?["org.iso.18013.5.1"]?["family_name"] == "Morgan", "\(checked.body)")
      #expect(checked.json["report"]?["id"] == nil)
      #expect(try await bed.api.get("/v1/audit/heads").body == before)
      let asked = body.merging([
        "request": [
          "credentials": [
            [
              "id": "a", "format": "mso_mdoc", "meta": ["doctype_value": "org.iso.18013.5.1.mDL"],
              "claims": [["path": ["org.iso.18013.5.1", "given_name"]]],
            ]
          ]
        ]
      ]) { $1 }
      let narrowed = try await bed.api.post(Self.path, Self.json(asked))
      #expect(narrowed.json["status"] == "verified" && !narrowed.body.contains("Morgan"))
    }
  }

  @Test func `what is wrong is rejected without a value`() async throws {
    try await withTestMode { bed in
      let forged = try await bed.api.post(
        Self.path, Self.json(try await Self.body(bed, variant: "element-changed")))
      #expect(forged.json["last_error"]?["code"] == "mdoc.digest.mismatch", "\(forged.body)")
      #expect(forged.json["result"] == .null && !forged.body.contains("Morgan"))
      let body = try await Self.body(bed)
      let early = try await bed.api.post(Self.path, Self.json(body.merging(["at": 86_400]) { $1 }))
      #expect(early.json["status"] == "failed" && early.json["result"] == .null)
      let other = try #require(bed.mode.anchors.last)
      let elsewhere = try await bed.api.post(
        Self.path,
        Self.json(body.merging(["trust_anchors": .string(PEM.encode(certificate: other.certificate))]) { $1 }))
      #expect(elsewhere.json["last_error"]?["code"]?.string?.hasPrefix("trust.") == true, "\(elsewhere.body)")
      let swapped = try await bed.api.post(
        Self.path,
        Self.json(
          body.merging(["session_transcript": .string(Base64.encodeURLSafe([0x83, 0xf6, 0xf6, 0x80]))]) { $1 }))
      #expect(swapped.json["last_error"]?["code"] == "mdoc.device_auth.signature_invalid", "\(swapped.body)")
    }
  }

  @Test func `a member that cannot be read is named`() async throws {
    try await withTestMode { bed in
      let body = try await Self.body(bed)
      let faults: [(String, JSON, String)] = [
        ("response", "*", "/response"), ("session_transcript", "oA", "/session_transcript"),
        ("trust_anchors", "-----BEGIN CERTIFICATE-----", "/trust_anchors"), ("trust_anchors", "x", "/trust_anchors"),
        ("request", ["documents": []], "/documents"), ("at", -1, "/at"), ("other", 1, "/other"),
      ]
      for (member, value, pointer) in faults {
        let refused = try await bed.api.post(Self.path, Self.json(body.merging([member: value]) { $1 }))
        #expect(refused.status == 400)
        #expect(refused.json["errors"]?.array?.first?["pointer"]?.string == pointer, "\(refused.body)")
      }
    }
  }
}
