import Base
import Mdoc
import Sessions

/// The session object, as an API key and as a client secret see it.
enum SessionSchemas {
  static let all: [Schema.Member] = [
    .init("VerificationSession", session), .init("VerificationSessionForClient", clientSession),
    .init(
      "VerificationSessionReply",
      .oneOf([.reference("VerificationSession"), .reference("VerificationSessionForClient")]).described(
        "To an API key the first, to a client secret the second.")),
    .init("VerificationSessionList", .listObject(of: "VerificationSessionSummary")),
    .init("VerificationSessionSummary", summary),
    .init("SessionStatus", .oneOf(SessionStatus.allCases.map(\.rawValue))),
    .init("LastError", lastError), .init("LastErrorCode", .object(["code": .reference("VerdictCode")])),
    .init("VerdictCode", verdictCode),
  ]

  /// Members that a session has in every reply to an API key.
  private static let common: [Schema.Member] = [
    .init("id", .text(like: SessionID.pattern)),
    .init("object", .constant("verification_session")),
    .init("livemode", .flag),
    .init("status", .reference("SessionStatus")),
    .init("created", .seconds),
    .init("expires_at", .seconds),
    .init("origin", .text.described("Of the page that asks, where one was given.")),
    .init("requests", .list(of: .reference("WalletRequest"))),
    .init("digital_credential_requests", .list(of: .reference("WalletRequest"))),
    .init("client_reference_id", .text.orNull),
    .init("metadata", .reference("Metadata")),
    .init("result_expires_at", .seconds.orNull),
    .init(
      "evidence",
      .oneOf("EvidenceStatus", EvidenceStatus.allCases.map(\.rawValue)).described(
        "Of a verified session, where the relying party's policy asks for evidence: whether there is a bundle.")),
    .init("report", .reference("VerificationReport").orNull),
    .init("last_error", .reference("LastError").orNull),
  ]

  private static let session = closed(
    common + [
      .init("client_secret", .text.described("In the creation reply only.")),
      .init(
        "url",
        .text.described(
          "In the creation reply only: the hosted page, where the relying party has one and it can ask by one of the "
            + "protocols. Its fragment is the client secret.")),
      .init("result", .reference("VerificationResult").orNull),
      .init("simulated_result", .reference("SimulatedResult")),
    ], optional: ["client_secret", "url", "origin", "simulated_result", "evidence"])

  /// A session as an entry of a list.
  private static let summary = closed(
    common, optional: ["origin", "requests", "digital_credential_requests", "report", "evidence"])

  private static func closed(_ members: [Schema.Member], optional: Set<String>) -> Schema {
    .object(members, required: members.map(\.name).filter { !optional.contains($0) })
  }

  private static let clientSession: Schema = .object(
    [
      "id": .text(like: SessionID.pattern),
      "status": .reference("SessionStatus"),
      "expires_at": .seconds,
      "requests": .list(of: .reference("WalletRequest")),
      "last_error": .reference("LastErrorCode").orNull,
      "response_code": .text.described(
        "In the reply that ends a session only, where that was reached by a link: the relying party needs it to read the "
          + "result."),
    ], optional: ["response_code"])

  private static let lastError: Schema = .object(
    [
      "code": .reference("VerdictCode"),
      "reasons": .list(
        of: .object(
          "FailureReason",
          [
            "code": .reference("VerdictCode"), "document": .count.orNull, "clause": .text,
          ])),
      "unverified_wallet_description": .text.described(
        "`error_description` of the wallet's error response: its own words, which nobody vouches for and which may be "
          + "personal. Cut to \(Limits.errorDescriptionBytes) bytes, without control characters; erased by redaction."),
    ], optional: ["unverified_wallet_description"])

  /// Every code except those of failed requests. Reports list these codes, and sessions fail with them.
  private static let verdictCode: Schema = .code(
    Code.allCases.filter { $0.httpStatus == 200 || $0 == .trustStoreEmpty },
    "What a check is called, and what failed.")
}

/// The session object as its hosted page reads it.
enum PageSchemas {
  static let all: [Schema.Member] = [.init("VerificationPage", page)]

  private static let page: Schema = .object(
    [
      "object": .constant("verification_page"), "id": .text(like: SessionID.pattern), "livemode": .flag,
      "status": .reference("SessionStatus"), "expires_at": .seconds,
      "relying_party": .text.described("Its name for people."),
      "color": .text(like: HostedPage.colorPattern), "logo_url": .text,
      "purpose": .text, "privacy_url": .text,
      "return_url": .text.described("With the session's id in its query; the page appends its `response_code`."),
      "redirect_uri": .text.described("To which a wallet brings the person back, with the response code."),
      "all_documents": .flag,
      "documents": .list(
        of: .object(
          "AskedDocument",
          [
            "doc_type": .text, "label": .text,
            "elements": .list(
              of: .object(
                "AskedElement",
                [
                  "namespace": .text, "identifier": .text, "label": .text, "is_kept": .flag, "required": .flag,
                  "alternatives": .list(
                    of: .object("AskedAlternative", ["namespace": .text, "identifier": .text, "label": .text])),
                ])),
            "age_over": .list(of: .count),
          ])),
      "digital_credential_requests": .list(of: .reference("WalletRequest")),
      "wallet_link": .text.described("The address that opens a wallet on the same device."),
      "last_error": .reference("LastErrorCode"),
    ],
    optional: [
      "color", "logo_url", "purpose", "privacy_url", "return_url", "redirect_uri", "wallet_link", "last_error",
    ])
}

/// Schemas of the `result` of a verified session, the only place with personal data.
enum ResultSchemas {
  static let all: [Schema.Member] = [
    .init("VerificationResult", .object(["documents": .list(of: .reference("VerifiedDocument"))])),
    .init("VerifiedDocument", document), .init("ElementsByNamespace", elements),
    .init("SimulatedResult", simulated), .init("AgeAnswer", age),
  ]

  private static let document: Schema = .object(
    [
      "doc_type": .text,
      "document_request_index": .count.described("The index in `documents` of what it answers. Older results lack it."),
      "elements": .reference("ElementsByNamespace"),
      "device_signed_elements": .reference("ElementsByNamespace"),
      "age_over": .list(of: .reference("AgeAnswer")),
      "missing_elements": .list(of: .reference("ElementReference")),
      "unrequested_elements": .list(of: .reference("ElementReference")),
      "issuer": .object(
        "Issuer",
        [
          "country": .text.orNull, "state_or_province": .text.orNull, "common_name": .text.orNull,
          "certificate_sha256": .sha256, "anchor_sha256": .sha256,
        ]),
      "validity": .object(
        "DocumentValidity", ["signed": .seconds, "valid_from": .seconds, "valid_until": .seconds]
      ).orNull,
      "proven_by": .oneOf("ProofMethod", ["issuer_signature", "zero_knowledge"]),
      "device_authentication": .oneOf(
        "DeviceAuthenticationMethod", DeviceAuthenticationMethod.allCases.map(\.rawValue)),
      "revocation": .oneOf("RevocationStatus", RevocationStatus.allCases.map(\.rawValue)),
    ], optional: ["document_request_index"])

  private static let age: Schema = .object([
    "threshold": .count, "answer": .flag, "proved_by": .reference("ElementReference"),
  ])

  /// The answer of Apple's simulator, or of a device with its test profile. It comes in test mode only, with
  /// `apple.simulator_answer` or `apple.profile_answer`, and proves nothing.
  private static let simulated: Schema = .object([
    "documents": .list(
      of: .object(
        "SimulatedDocument",
        [
          "doc_type": .text, "elements": .reference("ElementsByNamespace"),
          "age_over": .list(of: .reference("AgeAnswer")),
        ]))
  ])

  private static let elements: Schema = [
    "type": "object",
    "description": .string(
      "Namespaces, in each identifiers with their values: text, `full-date` as YYYY-MM-DD, `tdate` as RFC 3339, bytes "
        + "as {\"media_type\"?, \"base64\"}, numbers, booleans, maps and arrays as themselves. Integers have all their "
        + "digits, also beyond 2^53. Strings stand for what JSON has no number for: NaN, Infinity, -Infinity, and 0x with "
        + "hexadecimal digits for an integer of more than 1,024 bytes."),
    "additionalProperties": Schema(["type": "object"]).titled("ElementValues").json,
  ]
}

/// The report of an attempt.
enum ReportSchemas {
  static let all: [Schema.Member] = [
    .init("VerificationReport", report), .init("Check", check),
  ]

  private static let report: Schema = .object(
    [
      "id": .text(like: ReportID.pattern),
      "verified_at": .seconds,
      "trust_snapshot": .sha256,
      "revocation_policy": .oneOf("RevocationPolicy", RevocationPolicy.allCases.map(\.rawValue)),
      "checks": .list(of: .reference("Check")),
      "documents": .list(of: .object("DocumentReport", ["checks": .list(of: .reference("Check"))])),
    ], optional: ["revocation_policy"])

  private static let check: Schema = .object(
    [
      "code": .reference("VerdictCode"),
      "outcome": .oneOf("CheckOutcome", ["passed", "failed", "not_run", "warning"]),
      "clause": .text,
      "detail": .text.described("Names of elements, certificates or limits; never a value."),
    ], optional: ["detail"])
}
