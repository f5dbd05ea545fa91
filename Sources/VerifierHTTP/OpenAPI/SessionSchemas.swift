import Primitives
import VerificationService

/// The session object, as an API key and as a client secret see it.
enum SessionSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("VerificationSession", session), .init("VerificationSessionForClient", clientSession),
    .init("VerificationSessionList", Part.listObject(of: "VerificationSession")),
    .init("SessionStatus", Part.oneOf(SessionStatus.allCases.map(\.rawValue))),
    .init("LastError", lastError), .init("VerdictCode", verdictCode),
  ]

  private static let session = Part.object(
    [
      "id": Part.text(like: SessionID.pattern),
      "object": ["const": "verification_session"],
      "livemode": Part.flag,
      "status": Part.reference("SessionStatus"),
      "created": Part.seconds,
      "expires_at": Part.seconds,
      "client_secret": ["type": "string", "description": "In the creation reply only."],
      "requests": Part.list(of: Part.reference("WalletRequest")),
      "digital_credential_requests": Part.list(of: Part.reference("WalletRequest")),
      "client_reference_id": Part.textOrNull,
      "metadata": ["type": "object", "additionalProperties": ["type": "string"]],
      "result": Part.orNull(Part.reference("VerificationResult")),
      "simulated_result": Part.reference("SimulatedResult"),
      "result_expires_at": Part.secondsOrNull,
      "evidence": [
        "type": "string", "enum": .array(EvidenceStatus.allCases.map { .string($0.rawValue) }),
        "description":
          "Of a verified session, where the relying party's policy asks for evidence: whether there is a bundle.",
      ],
      "report": Part.orNull(Part.reference("VerificationReport")),
      "last_error": Part.orNull(Part.reference("LastError")),
    ], optional: ["client_secret", "simulated_result", "evidence"])

  private static let clientSession = Part.object([
    "id": Part.text(like: SessionID.pattern),
    "status": Part.reference("SessionStatus"),
    "expires_at": Part.seconds,
    "requests": Part.list(of: Part.reference("WalletRequest")),
    "last_error": Part.orNull(Part.object(["code": Part.reference("VerdictCode")])),
  ])

  private static let lastError = Part.object([
    "code": Part.reference("VerdictCode"),
    "reasons": Part.list(
      of: Part.object([
        "code": Part.reference("VerdictCode"), "document": ["type": ["integer", "null"]], "clause": Part.text,
      ])),
  ])

  /// Every code but those of failed requests: what a report lists and a session fails with.
  private static let verdictCode = Part.oneOf(
    Code.allCases.filter { $0.entry.httpStatus == 200 || $0 == .trustStoreEmpty }.map(\.rawValue))
}
