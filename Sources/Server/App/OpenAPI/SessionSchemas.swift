import Base
import Mdoc
import Sessions

/// The session object, as an API key and as a client secret see it.
enum SessionSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("VerificationSession", session), .init("VerificationSessionForClient", clientSession),
    .init(
      "VerificationSessionReply",
      Part.described(
        ["oneOf": [Part.reference("VerificationSession"), Part.reference("VerificationSessionForClient")]],
        "To an API key the first, to a client secret the second.")),
    .init("VerificationSessionList", Part.listObject(of: "VerificationSessionSummary")),
    .init("VerificationSessionSummary", summary),
    .init("SessionStatus", Part.oneOf(SessionStatus.allCases.map(\.rawValue))),
    .init("LastError", lastError), .init("LastErrorCode", Part.object(["code": Part.reference("VerdictCode")])),
    .init("VerdictCode", verdictCode),
  ]

  /// What a session has wherever it is shown to an API key.
  private static let common: [JSON.Member] = [
    .init("id", Part.text(like: SessionID.pattern)),
    .init("object", Part.constant("verification_session")),
    .init("livemode", Part.flag),
    .init("status", Part.reference("SessionStatus")),
    .init("created", Part.seconds),
    .init("expires_at", Part.seconds),
    .init("requests", Part.list(of: Part.reference("WalletRequest"))),
    .init("digital_credential_requests", Part.list(of: Part.reference("WalletRequest"))),
    .init("client_reference_id", Part.textOrNull),
    .init("metadata", Part.reference("Metadata")),
    .init("result_expires_at", Part.secondsOrNull),
    .init(
      "evidence",
      Part.described(
        Part.oneOf("EvidenceStatus", EvidenceStatus.allCases.map(\.rawValue)),
        "Of a verified session, where the relying party's policy asks for evidence: whether there is a bundle.")),
    .init("report", Part.orNull(Part.reference("VerificationReport"))),
    .init("last_error", Part.orNull(Part.reference("LastError"))),
  ]

  private static let session = closed(
    common + [
      .init("client_secret", ["type": "string", "description": "In the creation reply only."]),
      .init("result", Part.orNull(Part.reference("VerificationResult"))),
      .init("simulated_result", Part.reference("SimulatedResult")),
    ], optional: ["client_secret", "simulated_result", "evidence"])

  /// As an entry of a list.
  private static let summary = closed(
    common, optional: ["requests", "digital_credential_requests", "report", "evidence"])

  private static func closed(_ members: [JSON.Member], optional: Set<String>) -> JSON {
    Part.object(members, required: members.map(\.name).filter { !optional.contains($0) })
  }

  private static let clientSession = Part.object([
    "id": Part.text(like: SessionID.pattern),
    "status": Part.reference("SessionStatus"),
    "expires_at": Part.seconds,
    "requests": Part.list(of: Part.reference("WalletRequest")),
    "last_error": Part.orNull(Part.reference("LastErrorCode")),
  ])

  private static let lastError = Part.object([
    "code": Part.reference("VerdictCode"),
    "reasons": Part.list(
      of: Part.object(
        "FailureReason",
        [
          "code": Part.reference("VerdictCode"), "document": Part.orNull(Part.count), "clause": Part.text,
        ])),
  ])

  /// Every code but those of failed requests: what a report lists and a session fails with.
  private static let verdictCode = Part.code(
    Code.allCases.filter { $0.httpStatus == 200 || $0 == .trustStoreEmpty },
    "What a check is called, and what failed.")
}

/// The `result` of a verified session: the one place with personal data.
enum ResultSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("VerificationResult", Part.object(["documents": Part.list(of: Part.reference("VerifiedDocument"))])),
    .init("VerifiedDocument", document), .init("ElementsByNamespace", elements),
    .init("SimulatedResult", simulated), .init("AgeAnswer", age),
  ]

  private static let document = Part.object([
    "doc_type": Part.text,
    "elements": Part.reference("ElementsByNamespace"),
    "device_signed_elements": Part.reference("ElementsByNamespace"),
    "age_over": Part.list(of: Part.reference("AgeAnswer")),
    "missing_elements": Part.list(of: Part.reference("ElementReference")),
    "unrequested_elements": Part.list(of: Part.reference("ElementReference")),
    "issuer": Part.object(
      "Issuer",
      [
        "country": Part.textOrNull, "state_or_province": Part.textOrNull, "common_name": Part.textOrNull,
        "certificate_sha256": Part.sha256, "anchor_sha256": Part.sha256,
      ]),
    "validity": Part.object(
      "DocumentValidity", ["signed": Part.seconds, "valid_from": Part.seconds, "valid_until": Part.seconds]),
    "device_authentication": Part.oneOf(
      "DeviceAuthenticationMethod", DeviceAuthenticationMethod.allCases.map(\.rawValue)),
    "revocation": Part.oneOf("RevocationStatus", RevocationStatus.allCases.map(\.rawValue)),
  ])

  private static let age = Part.object([
    "threshold": Part.count, "answer": Part.flag, "proved_by": Part.reference("ElementReference"),
  ])

  /// Test mode only, beside `apple.simulator_answer` and `apple.profile_answer`: what Apple's simulator, or a device with
  /// its test profile, answered. It proves nothing.
  private static let simulated = Part.object([
    "documents": Part.list(
      of: Part.object(
        "SimulatedDocument",
        [
          "doc_type": Part.text, "elements": Part.reference("ElementsByNamespace"),
          "age_over": Part.list(of: Part.reference("AgeAnswer")),
        ]))
  ])

  private static let elements: JSON = [
    "type": "object",
    "description": .string(
      "Namespaces, in each identifiers with their values: text, `full-date` as YYYY-MM-DD, `tdate` as RFC 3339, bytes "
        + "as {\"media_type\"?, \"base64\"}, numbers, booleans, maps and arrays as themselves."),
    "additionalProperties": Part.titled("ElementValues", ["type": "object"]),
  ]
}

/// The report of an attempt.
enum ReportSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("VerificationReport", report), .init("Check", check),
  ]

  private static let report = Part.object(
    [
      "id": Part.text(like: ReportID.pattern),
      "verified_at": Part.seconds,
      "trust_snapshot": Part.sha256,
      "revocation_policy": Part.oneOf("RevocationPolicy", RevocationPolicy.allCases.map(\.rawValue)),
      "checks": Part.list(of: Part.reference("Check")),
      "documents": Part.list(of: Part.object("DocumentReport", ["checks": Part.list(of: Part.reference("Check"))])),
    ], optional: ["revocation_policy"])

  private static let check = Part.object(
    [
      "code": Part.reference("VerdictCode"),
      "outcome": Part.oneOf("CheckOutcome", ["passed", "failed", "not_run", "warning"]),
      "clause": Part.text,
      "detail": ["type": "string", "description": "Names of elements, certificates or limits; never a value."],
    ], optional: ["detail"])
}
