import Base
import Mdoc
import Presentation
import Trust

extension CodeGroup {
  /// Every group, in the order in which a response is checked.
  package static let all: [CodeGroup] = [
    .cbor, .envelope, .openID4VP, .proximity, .apple, .response, .proof, .requestedProofs, .issuerAuthentication,
    .trustStore, .certificatePath, .issuerSignature, .mobileSecurityObject, .items, .validity, .deviceAuthentication,
    .revocation, .acceptance, .readerAuthentication, .requests, .trustLists, .sessions, .walletRefusals, .audit,
    .evidence, .api,
  ]
}

extension Code {
  package static let allCases = CodeGroup.all.flatMap(\.codes)

  private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.rawValue, $0) })

  /// The registered code of this name; nil if there is none.
  package init?(rawValue name: String) {
    guard let code = Self.byName[name] else { return nil }
    self = code
  }

  /// The registered code with the same name; nil if this code is not registered.
  package var registered: Code? { Code(rawValue: rawValue) }
}

extension Code {
  package static let zkNotProvable = Code(
    "zk.not_provable", "The request asks for a proof that cannot be made", "longfellow-libzk-v1: what a circuit proves",
    "Request one to four unstructured elements of one namespace, by a protocol that supports proofs.", status: 400)
  package static let zkCircuitsMissing = Code(
    "zk.circuits_missing", "The request asks for a proof, and no circuit for it is configured",
    "longfellow-libzk-v1, circuits",
    "Import the circuits with `mdoc circuits import`, and set `circuits` in the configuration to their folder.",
    status: 400)
  package static let trustStoreEmpty = Code(
    "trust.store_empty", "No trust anchor is valid now", "\(iso), 9.3.3",
    "Configure at least one issuing authority certificate.", status: 503, cases: "T01")
  package static let sessionNotFound = Code(
    "session.not_found", "No such session", "HTTP API, Sessions", "Check the id and the API key.", status: 404,
    cases: "S05")
  package static let sessionAlreadyUsed = Code(
    "session.already_used", "The session's challenge was used already", "\(iso), 9.1.5.1",
    "Create a new session for a new attempt.", status: 409, cases: "S01 S02 S03 S09")
  package static let sessionExpired = Code(
    "session.expired", "The session has expired", "HTTP API, Sessions", "Create a new session.", status: 410,
    cases: "S04")
  package static let sessionCanceled = Code(
    "session.canceled", "The session was canceled", "HTTP API, Sessions", "Create a new session.", status: 409,
    cases: "S08")
  package static let sessionRedacted = Code(
    "session.redacted", "The session's data were erased", "HTTP API, Sessions", "Create a new session.", status: 410,
    cases: "S08")
  package static let sessionWrongState = Code(
    "session.wrong_state", "The session's state does not allow this", "HTTP API, Sessions",
    "Read the session's status first.", status: 409)
  package static let sessionInterrupted = Code(
    "session.interrupted", "The server stopped while it verified the response", "HTTP API, Sessions",
    "Create a new session.", cases: "S09")
  package static let responseCodeMismatch = Code(
    "session.response_code_mismatch", "The response code does not match the browser that submitted the response",
    "\(openID), 8.2 and 13.3",
    "Pass the `response_code` from this visitor's return URL. If it is unchanged, treat the mismatch as an attack.",
    status: 403)
  package static let auditMalformed = Code(
    "audit.malformed", "A line is neither an audit entry nor a head", "Audit log", .export)
  package static let auditEntryMissing = Code(
    "audit.entry_missing", "Entries are missing at the beginning of a chain or within it", "Audit log",
    "Export from the first entry, or pass an earlier head with `--heads`. If the finding recurs, entries were removed.")
  package static let auditHashMismatch = Code(
    "audit.hash_mismatch", "An entry's hash does not match its content and the previous hash", "Audit log", .tampered)
  package static let auditSequenceRepeated = Code(
    "audit.sequence_repeated", "An export has two entries with the same node and sequence", "Audit log", .tampered)
  package static let auditOutOfOrder = Code(
    "audit.out_of_order", "An export's entries of a node are out of order", "Audit log", .export)
  package static let auditExportsDisagree = Code(
    "audit.exports_disagree",
    "Two exports have different entries for the same node and sequence", "Audit log", .tampered
  )
  package static let auditEndMissing = Code(
    "audit.end_missing", "A chain ends before a head that was exported or noted earlier", "Audit log", .tampered)
  package static let auditHeadMissing = Code(
    "audit.head_missing", "An export has a node's entries but no head for its chain", "Audit log", .export)
  package static let auditHeadMismatch = Code(
    "audit.head_mismatch", "A node's head in an export does not match the node's last entry", "Audit log", .tampered)
  package static let auditHeadNotOnChain = Code(
    "audit.head_not_on_chain", "A head that was noted earlier is not on the chain", "Audit log", .tampered)
  package static let auditAttemptRepeated = Code(
    "audit.attempt_repeated", "One attempt has two entries", "Audit log", .twice)
  package static let auditSessionVerifiedTwice = Code(
    "audit.session_verified_twice", "One session was verified twice", "Audit log", .twice)
  package static let evidenceMalformed = Code(
    "evidence.malformed", "The file is not an evidence bundle, or is truncated", "Evidence", .bundle)
  package static let evidenceTooLarge = Code(
    "evidence.too_large", "The file is larger than an evidence bundle can be", "Evidence", .bundle)
  package static let evidenceVersionUnsupported = Code(
    "evidence.version_unsupported", "This program does not know the bundle's format", "Evidence",
    "Verify it with the version of the program that made it, or a later one.")
  package static let evidenceKeyMismatch = Code(
    "evidence.key_mismatch", "None of the given keys decrypts the bundle", "Evidence",
    "Use the evidence key that the relying party had when the bundle was made.")
  package static let evidenceSealBroken = Code(
    "evidence.seal_broken", "The bundle was changed or truncated after it was sealed", "Evidence", .bundle)
  package static let evidenceReportMismatch = Code(
    "evidence.report_mismatch", "Verifying the bundle again gives a different report", "Evidence",
    "Verify it with the version of the program that made it. If the reports still differ, the bundle proves nothing.")
  package static let evidenceNotInAudit = Code(
    "evidence.not_in_audit", "The audit log has no entry of this bundle", "Evidence",
    "Export the log of every node again. If the entry is still missing, no server made this bundle.")
  package static let apiMalformedRequest = Code(
    "api.malformed_request",
    "The request is not well-formed", "RFC 9112", "Correct the request as `detail` says.", status: 400,
    cases: "S13")
  package static let apiUnknownMember = Code(
    "api.unknown_member", "The request has an unknown member", "HTTP API",
    "Remove the members listed in `errors`.", status: 400, cases: "S13")
  package static let apiProtocolUnsupported = Code(
    "api.protocol_unsupported", "This protocol is not offered here", "HTTP API, Sessions",
    "Use one of the protocols that the server offers.", status: 400)
  package static let apiOriginNotAllowed = Code(
    "api.origin_not_allowed", "The origin is not one of the relying party's `origins`", "HTTP API, Sessions",
    "Use one of the configured origins, written exactly as browsers write it.", status: 400, cases: "D02")
  package static let apiOutsideRegistration = Code(
    "api.outside_registration", "The request asks for data outside the relying party's registration certificate",
    "ETSI TS 119 475, 5.2.4", "Request only registered elements, send another `intended_use_id`, or register the rest.",
    status: 400)
  package static let readerCertificateExpired = Code(
    "api.reader_certificate_expired",
    "The reader's certificate is expired or not yet valid, so wallets would refuse its requests",
    "ISO/IEC 18013-5, B.1.7", "Renew the certificate of the relying party's reader.", status: 503)
  package static let apiTooManyAgeRequests = Code(
    "api.too_many_age_requests", "More than two age thresholds for one document", "\(iso), 7.2.5",
    "Request at most two thresholds.", status: 400, cases: "E26")
  package static let apiUnauthenticated = Code(
    "api.unauthenticated", "The request carries no valid credential", "RFC 6750",
    "Send `Authorization: Bearer` with a valid API key or client secret.", status: 401, cases: "S10")
  package static let apiForbidden = Code(
    "api.forbidden", "The credential does not allow this", "RFC 6750",
    "Use a credential with the scope that the operation needs.", status: 403, cases: "S10")
  package static let apiNotFound = Code(
    "api.not_found", "There is nothing at this address", "RFC 9110, 15.5.5", "Check the address.", status: 404)
  package static let apiMethodNotAllowed = Code(
    "api.method_not_allowed", "The address does not support this method", "RFC 9110, 15.5.6",
    "Use a method of the `Allow` header.", status: 405)
  package static let apiIdempotencyInProgress = Code(
    "api.idempotency_in_progress", "A request with this Idempotency-Key is still running", "HTTP API, Idempotency",
    "Wait, then retry the same request.", status: 409, cases: "S12")
  package static let apiIdempotencyKeyReused = Code(
    "api.idempotency_key_reused", "This Idempotency-Key was used with another body", "HTTP API, Idempotency",
    "Use a new key for a new request.", status: 422, cases: "S11")
  package static let apiBodyTooLarge = Code(
    "api.body_too_large", "The request's body is larger than the limit", "RFC 9110, 15.5.14", "Send a smaller body.",
    status: 413, cases: "C08 S13")
  package static let apiHeadersTooLarge = Code(
    "api.headers_too_large", "The request's headers are larger than the limit", "RFC 6585, 5",
    "Send fewer or smaller headers.", status: 431)
  package static let apiTargetTooLong = Code(
    "api.target_too_long", "The request's address is longer than the limit", "RFC 9110, 15.5.15", "Send a shorter URL.",
    status: 414)
  package static let apiUnsupportedMediaType = Code(
    "api.unsupported_media_type", "The body is not application/json", "RFC 9110, 15.5.16",
    "Send `Content-Type: application/json`.", status: 415, cases: "S13")
  package static let trustReloadFailed = Code(
    "api.trust_reload_failed", "The trust anchors could not be reloaded; the previous ones stay in force", "HTTP API",
    "The server's log identifies the file or list. Correct it and reload again.", status: 409)
  package static let apiRateLimited = Code(
    "api.rate_limited", "Too many requests for this API key, session or address",
    "RFC 6585, 4", "Retry after `Retry-After` seconds.", status: 429)
  package static let apiSessionTooLarge = Code(
    "api.session_too_large", "The session's data exceed the size limit of one session", "HTTP API, Sessions",
    "Request fewer elements, with shorter names, or offer fewer protocols.", status: 413)
  package static let apiQuotaExceeded = Code(
    "api.quota_exceeded",
    "The relying party has reached its quota of open sessions or stored bytes", "RFC 6585, 4",
    "Retry after `Retry-After` seconds. Redact sessions that are no longer needed, or raise `quota`.",
    status: 429)
  package static let configurationReloadFailed = Code(
    "api.configuration_reload_failed",
    "The configuration could not be reloaded; the previous one stays in force", "HTTP API",
    "The server's log identifies the member. Correct it and reload again.", status: 409)
  package static let apiOverloaded = Code(
    "api.overloaded", "The server is overloaded", "RFC 9110, 15.6.4",
    "Retry after `Retry-After` seconds.", status: 503)
  package static let apiStoreUnavailable = Code(
    "api.store_unavailable", "The store did not respond; a submit may have consumed the challenge without a result",
    "RFC 9110, 15.6.4", "Retry after `Retry-After` seconds; after a submit, read the session first.", status: 503)
  package static let apiKeyUnavailable = Code(
    "api.key_unavailable", "The token with this request's key is unavailable or too slow; nothing was consumed",
    "RFC 9110, 15.6.4", "Retry after `Retry-After` seconds.", status: 503)
  package static let apiInternal = Code(
    "api.internal", "The server failed", "RFC 9110, 15.6.1", "Report it with the request id.", status: 500)
}

extension Code.Remedy {
  static let export: Self = "Export again and compare: the file was truncated or changed after the export."
  static let tampered: Self =
    "Export again. If the finding recurs, entries in the store were changed: compare with heads noted earlier to find "
    + "out when."
  static let twice: Self =
    "A store accepted one challenge twice. Stop the servers and check whether the store was restored from a copy."
  static let bundle: Self = "Fetch the bundle again from the server, and compare it with other copies."
}

extension CodeGroup {
  package static let requestedProofs = CodeGroup(proof.title, [.zkNotProvable, .zkCircuitsMissing])
  package static let trustStore = CodeGroup(certificatePath.title, [.trustStoreEmpty])
  package static let sessions = CodeGroup(
    "Sessions",
    [
      .sessionNotFound, .sessionProtocolMismatch, .sessionAlreadyUsed, .sessionExpired, .sessionCanceled,
      .sessionRedacted, .sessionWrongState, .sessionInterrupted, .responseCodeMismatch,
    ])
  package static let audit = CodeGroup(
    "Exported audit logs",
    [
      .auditMalformed, .auditEntryMissing, .auditHashMismatch, .auditSequenceRepeated, .auditOutOfOrder,
      .auditExportsDisagree, .auditEndMissing, .auditHeadMissing, .auditHeadMismatch, .auditHeadNotOnChain,
      .auditAttemptRepeated, .auditSessionVerifiedTwice,
    ])
  package static let evidence = CodeGroup(
    "Bundles of evidence",
    [
      .evidenceMalformed, .evidenceTooLarge, .evidenceVersionUnsupported, .evidenceKeyMismatch, .evidenceSealBroken,
      .evidenceReportMismatch, .evidenceNotInAudit,
    ])
  package static let api = CodeGroup(
    "HTTP",
    [
      .apiMalformedRequest, .apiInvalidRequest, .apiUnknownMember, .apiProtocolUnsupported, .apiOriginNotAllowed,
      .apiOutsideRegistration, .apiWalletUnsupported, .readerCertificateExpired, .apiTooManyAgeRequests,
      .apiUnauthenticated, .apiForbidden, .apiNotFound, .apiMethodNotAllowed, .apiIdempotencyInProgress,
      .apiIdempotencyKeyReused, .apiBodyTooLarge, .apiHeadersTooLarge, .apiTargetTooLong, .apiUnsupportedMediaType,
      .trustReloadFailed, .apiRateLimited, .apiSessionTooLarge, .apiQuotaExceeded, .configurationReloadFailed,
      .apiOverloaded, .apiStoreUnavailable, .apiKeyUnavailable, .apiInternal,
    ])
}
