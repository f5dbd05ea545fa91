import Base
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
