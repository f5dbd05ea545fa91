import App
import Base
import PKIX
import Sessions
import Trust

/// `POST /v1/test/checks`: verifies submitted bytes for the page `/check`.
struct CheckRoute {
  private struct Body: Equatable {
    let response: [UInt8]
    let transcript: [UInt8]
    let anchors: String?
    let request: JSON?
    let time: Int64?

    static let shape = Shape.object(
      "CreateCheck", "A DeviceResponse to verify, its transcript and the trust anchors. Nothing is stored.", Body.init,
      Field("response", \.response, .base64URL, "The DeviceResponse in base64url."),
      Field(
        "session_transcript", \.transcript, .base64URL,
        "The reader's own SessionTranscript, or SessionTranscriptBytes, in base64url."),
      .optional(
        "trust_anchors", \.anchors, .text(1...longestAnchors),
        "Certificates in PEM, trusted for every document. By default the mock authority's."),
      .optional(
        "request", \.request, Shape<JSON>.any(["type": "object"]),
        "The request, as in a session or as a DCQL query. Without it, the result has every verified element."),
      .optional(
        "at", \.time, Shape<Int64>.integer(0...253_402_300_799),
        "The time of the verification, in Unix seconds. By default now."))

    private static let longestAnchors = 64 << 10
  }

  /// The mock authority's anchors.
  let anchors: [TrustAnchor]

  var route: Route {
    Route(
      .post, "/v1/test/checks", "createCheck", "Verify bytes with anchors of your choice",
      "Revocation is not checked, and nothing is stored: neither report nor audit entry.",
      access: .apiKey([.verificationsWrite]), body: .reading(Body.shape, [Self.example]),
      success: .json("Verification"), problems: [.apiInvalidRequest]
    ) { call throws(ServiceError) in
      let body = try Body.shape.value(of: call.body)
      let trust = try? TrustStore(anchors: try chosen(body.anchors), allowsTestCertificates: true)
      guard let trust else {
        throw ServiceError.invalidMember("/trust_anchors", "must be readable certificates in PEM")
      }
      return try call.service.check(
        body.response, body.transcript, under: trust, request: body.request,
        at: body.time.map { Timestamp(secondsSince1970: $0) })
    }
  }

  private func chosen(_ text: String?) throws -> [TrustAnchor] {
    guard let text else { return anchors }
    return try (PEM.certificates(in: text) ?? []).map {
      TrustAnchor(certificate: try Certificate(der: $0), tier: .test, source: "/check")
    }
  }

  private static let example = RequestExample(
    "malformed", "A response that is not CBOR: rejected.",
    ["response": "_w", "session_transcript": "g_b2gmFhYWI"])
}
