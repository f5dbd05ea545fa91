/// The stable name of every check and of every refusal.
///
/// One name serves as the Swift case, the HTTP problem, the reason in a session's `last_error`, the check in a report,
/// the metric label, the audit line and the expectation of a test vector. A name is that of the *failure*; a report
/// lists the same name with the outcome `passed` when the check succeeded. What a code means stands in
/// `Code.entry`, and `mdoc codes` prints it.
public enum Code: String, CaseIterable, Sendable, Hashable {
  // CBOR
  case cborTruncated = "cbor.truncated"
  case cborTrailingBytes = "cbor.trailing_bytes"
  case cborDuplicateKey = "cbor.duplicate_key"
  case cborInvalidUTF8 = "cbor.invalid_utf8"
  case cborMalformed = "cbor.malformed"
  case cborNestingTooDeep = "cbor.nesting_too_deep"
  case cborLengthExceedsInput = "cbor.length_exceeds_input"
  case cborTooManyItems = "cbor.too_many_items"
  case cborInputTooLarge = "cbor.input_too_large"
  case cborTagUnsupported = "cbor.tag_unsupported"
  case cborSimpleValueUnassigned = "cbor.simple_value_unassigned"

  // Envelope
  case envelopeMalformed = "envelope.malformed"
  case envelopeAlgorithmUnsupported = "envelope.algorithm_unsupported"
  case envelopeModeUnsupported = "envelope.mode_unsupported"
  case envelopeEncapsulatedKeyInvalid = "envelope.encapsulated_key_invalid"
  case envelopeRecipientKeyUnknown = "envelope.recipient_key_unknown"
  case envelopeTranscriptMismatch = "envelope.transcript_mismatch"
  case envelopeDecryptionFailed = "envelope.decryption_failed"
  case envelopePlaintextMalformed = "envelope.plaintext_malformed"
  case envelopeNotEncrypted = "envelope.not_encrypted"
  case jweHeaderInvalid = "jwe.header_invalid"
  case jweAlgorithmUnsupported = "jwe.algorithm_unsupported"
  case jweCompressionNotAllowed = "jwe.compression_not_allowed"
  case jweKeyUnknown = "jwe.key_unknown"
  case jweEphemeralKeyInvalid = "jwe.ephemeral_key_invalid"
  case jwePlaintextTooLarge = "jwe.plaintext_too_large"
  case responseModeMismatch = "envelope.response_mode_mismatch"
  case stateMismatch = "session.state_mismatch"
  case stateMissing = "session.state_missing"
  case vpTokenMalformed = "vp_token.malformed"
  case vpTokenIncomplete = "vp_token.incomplete"
  case sessionDataMalformed = "proximity.session_data_malformed"
  case sessionTerminated = "proximity.session_terminated"
  case readerKeyMismatch = "proximity.reader_key_mismatch"
  case appleSimulatorAnswer = "apple.simulator_answer"
  case appleProfileAnswer = "apple.profile_answer"

  // DeviceResponse
  case responseMalformed = "mdoc.response.malformed"
  case responseVersionUnsupported = "mdoc.response.version_unsupported"
  case responseStatusNotOK = "mdoc.response.status_not_ok"
  case documentErrorsPresent = "mdoc.response.document_errors"
  case documentsMissing = "mdoc.response.documents_missing"
  case documentUnexpected = "mdoc.response.document_unexpected"
  case docTypeNotRequested = "mdoc.response.doc_type_not_requested"
  case zeroKnowledgeUnsupported = "mdoc.response.zero_knowledge_unsupported"
  case encryptedDocumentsUnsupported = "mdoc.response.encrypted_documents_unsupported"
  case responseDeviation = "mdoc.response.deviation"

  // Zero-knowledge proofs
  case zkDocumentMalformed = "zk.document_malformed"
  case zkTimestampMalformed = "zk.timestamp_malformed"
  case zkPlainNotAccepted = "zk.plain_not_accepted"
  case zkSystemUnknown = "zk.system_unknown"
  case zkSystemNotOffered = "zk.system_not_offered"
  case zkNamespaceMismatch = "zk.namespace_mismatch"
  case zkElementsMismatch = "zk.elements_mismatch"
  case zkElementCount = "zk.element_count"
  case zkElementNotProvable = "zk.element_not_provable"
  case zkDeviceElements = "zk.device_elements"
  case zkTimestampStale = "zk.timestamp_stale"
  case zkTimestampInFuture = "zk.timestamp_in_future"
  case zkIssuerNotAllowed = "zk.issuer_not_allowed"
  case zkIssuerKeyUnsupported = "zk.issuer_key_unsupported"
  case zkStatusNotProvable = "zk.status_not_provable"
  case zkCircuitUnavailable = "zk.circuit_unavailable"
  case zkProofMalformed = "zk.proof_malformed"
  case zkProofInvalid = "zk.proof_invalid"
  case zkNotProvable = "zk.not_provable"
  case zkCircuitsMissing = "zk.circuits_missing"

  // Issuer authentication
  case issuerAuthMissing = "mdoc.issuer_auth.missing"
  case issuerAuthMalformed = "mdoc.issuer_auth.malformed"
  case coseHeaderDuplicate = "cose.header_duplicate"
  case coseCritUnsupported = "cose.crit_unsupported"
  case issuerCertificateMissing = "mdoc.issuer_auth.certificate_missing"
  case issuerCertificateThumbprintMismatch = "mdoc.issuer_auth.x5t_mismatch"

  // Trust
  case trustStoreEmpty = "trust.store_empty"
  case chainTooLong = "trust.chain_too_long"
  case certificateMalformed = "trust.certificate.malformed"
  case testCertificate = "trust.test_certificate"
  case issuerUnknown = "trust.issuer_unknown"
  case nameChaining = "trust.name_chaining"
  case certificateSignatureInvalid = "trust.certificate.signature_invalid"
  case certificateAlgorithmUnsupported = "trust.certificate.algorithm_unsupported"
  case anchorNotCA = "trust.anchor_not_ca"
  case anchorExpired = "trust.anchor_expired"
  case issuerNotTrustedForDocType = "trust.not_for_doc_type"
  case pathLengthExceeded = "trust.path_length_exceeded"
  case certificateExpired = "trust.certificate.expired"
  case certificateIsCA = "trust.certificate.is_ca"
  case certificateKeyUsage = "trust.certificate.key_usage"
  case certificateExtendedKeyUsage = "trust.certificate.extended_key_usage"
  case certificateCriticalExtension = "trust.certificate.critical_extension"
  case certificateConstrained = "trust.certificate.constrained"
  case certificateJurisdictionMismatch = "trust.certificate.jurisdiction_mismatch"
  case profileCriticality = "trust.profile.criticality"
  case profileLifetime = "trust.profile.lifetime"
  case profileCountryMissing = "trust.profile.country_missing"
  case profileKeyIdentifiers = "trust.profile.key_identifiers"
  case profileSerialNumber = "trust.profile.serial_number"
  case profileIssuerAltName = "trust.profile.issuer_alt_name"
  case profileRevocationSource = "trust.profile.revocation_source"
  case profileForbiddenExtension = "trust.profile.forbidden_extension"
  case profileVersion = "trust.profile.version"
  case profileName = "trust.profile.name"
  case profilePublicKey = "trust.profile.public_key"
  case profileSignatureAlgorithm = "trust.profile.signature_algorithm"
  case profileKeyIdentifierValue = "trust.profile.key_identifier_value"
  case profilePathLength = "trust.profile.path_length"
  case profileKeyUsage = "trust.profile.key_usage"
  case profileExtendedKeyUsage = "trust.profile.extended_key_usage"
  case profileSubjectAltName = "trust.profile.subject_alt_name"
  case profileAnchorUnscoped = "trust.profile.anchor_unscoped"
  case profileRootInChain = "trust.profile.root_in_chain"

  // Issuer signature
  case issuerAlgorithmUnsupported = "mdoc.issuer_auth.algorithm_unsupported"
  case issuerAlgorithmKeyMismatch = "mdoc.issuer_auth.algorithm_key_mismatch"
  case issuerSignatureInvalid = "mdoc.issuer_auth.signature_invalid"

  // Mobile security object
  case msoMissing = "mdoc.mso.missing"
  case msoMalformed = "mdoc.mso.malformed"
  case msoVersionUnsupported = "mdoc.mso.version_unsupported"
  case digestAlgorithmUnsupported = "mdoc.mso.digest_algorithm_unsupported"
  case msoDocTypeMismatch = "mdoc.mso.doc_type_mismatch"

  // Issuer-signed items
  case itemMalformed = "mdoc.item.malformed"
  case itemNotTag24 = "mdoc.item.not_tag24"
  case elementDuplicate = "mdoc.element.duplicate"
  case digestIDDuplicate = "mdoc.digest.id_duplicate"
  case digestMissing = "mdoc.digest.missing"
  case digestMismatch = "mdoc.digest.mismatch"
  case digestIDOutOfRange = "mdoc.digest.id_out_of_range"
  case itemRandomTooShort = "mdoc.item.random_too_short"

  // Validity
  case validityInconsistent = "mdoc.validity.inconsistent"
  case signedInFuture = "mdoc.validity.signed_in_future"
  case signedOutsideCertificate = "mdoc.validity.signed_outside_certificate"
  case notYetValid = "mdoc.validity.not_yet_valid"
  case expired = "mdoc.validity.expired"
  case validityExceedsCertificate = "mdoc.validity.exceeds_certificate"
  case issuerJurisdictionMismatch = "mdoc.issuer.jurisdiction_mismatch"

  // Device authentication
  case deviceKeyInvalid = "mdoc.device_key.invalid"
  case deviceKeySameAsIssuer = "mdoc.device_key.same_as_issuer"
  case deviceElementUnauthorized = "mdoc.device_signed.element_unauthorized"
  case deviceAuthMissing = "mdoc.device_auth.missing"
  case deviceAuthAmbiguous = "mdoc.device_auth.ambiguous"
  case deviceAuthMalformed = "mdoc.device_auth.malformed"
  case deviceMacNotAllowed = "mdoc.device_auth.mac_not_allowed"
  case deviceAlgorithmUnsupported = "mdoc.device_auth.algorithm_unsupported"
  case deviceAlgorithmKeyMismatch = "mdoc.device_auth.algorithm_key_mismatch"
  case deviceSignatureInvalid = "mdoc.device_auth.signature_invalid"
  case deviceMacInvalid = "mdoc.device_auth.mac_invalid"

  // Revocation
  case signerRevoked = "revocation.signer_revoked"
  case authorityRevoked = "revocation.authority_revoked"
  case crlInvalid = "revocation.crl_invalid"
  case documentRevoked = "revocation.document_revoked"
  case documentSuspended = "revocation.document_suspended"
  case statusUnknown = "revocation.status_unknown"
  case statusListInvalid = "revocation.status_list_invalid"
  case statusIndexOutOfRange = "revocation.status_index_out_of_range"
  case revocationMechanismUnsupported = "revocation.mechanism_unsupported"
  case revocationSourceNotAllowed = "revocation.source_not_allowed"
  case revocationListTooLarge = "revocation.list_too_large"
  case revocationUnavailable = "revocation.unavailable"

  // Acceptance
  case elementTypeInvalid = "mdoc.element.type_invalid"
  case elementMissing = "policy.element_missing"
  case elementUnexpected = "policy.element_unexpected"
  case documentMissing = "policy.document_missing"
  case ageContradictory = "policy.age_contradictory"
  case ageInconsistent = "policy.age_inconsistent"
  case ageBelowMinimum = "policy.age_below_minimum"
  case documentExpired = "policy.document_expired"
  case nothingDisclosed = "policy.nothing_disclosed"

  // Reader authentication: what a reader asks, checked as a wallet would
  case readerRequestMalformed = "reader_auth.request_malformed"
  case readerAuthMissing = "reader_auth.missing"
  case readerAuthMalformed = "reader_auth.malformed"
  case readerCertificateMissing = "reader_auth.certificate_missing"
  case readerUntrusted = "reader_auth.untrusted"
  case readerCertificateProfile = "reader_auth.certificate_profile"
  case readerAlgorithmUnsupported = "reader_auth.algorithm_unsupported"
  case readerSignatureInvalid = "reader_auth.signature_invalid"
  case readerClientMismatch = "reader_auth.client_id_mismatch"
  case readerOriginMismatch = "reader_auth.origin_mismatch"
  case readerAudience = "reader_auth.audience_unexpected"

  // Lists of trust anchors: VICAL, lists of trusted entities
  case listMalformed = "list.malformed"
  case listTooLarge = "list.too_large"
  case listSignerUntrusted = "list.signer_untrusted"
  case listSignerProfile = "list.signer_profile"
  case listAlgorithmUnsupported = "list.algorithm_unsupported"
  case listSignatureInvalid = "list.signature_invalid"
  case listVersionUnsupported = "list.version_unsupported"
  case listCriticalExtension = "list.critical_extension"
  case listIssuedInFuture = "list.issued_in_future"
  case listExpired = "list.expired"
  case listRollback = "list.rollback"
  case listEntryMalformed = "list.entry_malformed"
  case listEntryMismatch = "list.entry_mismatch"
  case listEntryNotGranted = "list.entry_not_granted"
  case listDeviation = "list.deviation"
  case listSourceNotAllowed = "list.source_not_allowed"
  case listUnavailable = "list.unavailable"

  // Sessions
  case sessionNotFound = "session.not_found"
  case sessionProtocolMismatch = "session.protocol_mismatch"
  case sessionAlreadyUsed = "session.already_used"
  case sessionExpired = "session.expired"
  case sessionCanceled = "session.canceled"
  case sessionRedacted = "session.redacted"
  case sessionWrongState = "session.wrong_state"
  case sessionInterrupted = "session.interrupted"
  case responseCodeMismatch = "session.response_code_mismatch"

  // What a wallet says instead of an answer
  case walletAccessDenied = "wallet.access_denied"
  case walletInvalidRequest = "wallet.invalid_request"
  case walletInvalidClient = "wallet.invalid_client"
  case walletFormatsNotSupported = "wallet.vp_formats_not_supported"
  case walletInvalidRequestURIMethod = "wallet.invalid_request_uri_method"
  case walletInvalidTransactionData = "wallet.invalid_transaction_data"
  case walletUnavailable = "wallet.unavailable"
  case walletOtherError = "wallet.other_error"

  // Exported audit logs
  case auditMalformed = "audit.malformed"
  case auditEntryMissing = "audit.entry_missing"
  case auditHashMismatch = "audit.hash_mismatch"
  case auditSequenceRepeated = "audit.sequence_repeated"
  case auditOutOfOrder = "audit.out_of_order"
  case auditExportsDisagree = "audit.exports_disagree"
  case auditEndMissing = "audit.end_missing"
  case auditHeadMissing = "audit.head_missing"
  case auditHeadMismatch = "audit.head_mismatch"
  case auditHeadNotOnChain = "audit.head_not_on_chain"
  case auditAttemptRepeated = "audit.attempt_repeated"
  case auditSessionVerifiedTwice = "audit.session_verified_twice"

  // Evidence
  case evidenceMalformed = "evidence.malformed"
  case evidenceTooLarge = "evidence.too_large"
  case evidenceVersionUnsupported = "evidence.version_unsupported"
  case evidenceKeyMismatch = "evidence.key_mismatch"
  case evidenceSealBroken = "evidence.seal_broken"
  case evidenceReportMismatch = "evidence.report_mismatch"
  case evidenceNotInAudit = "evidence.not_in_audit"

  // HTTP
  case apiMalformedRequest = "api.malformed_request"
  case apiInvalidRequest = "api.invalid_request"
  case apiUnknownMember = "api.unknown_member"
  case apiProtocolUnsupported = "api.protocol_unsupported"
  case apiOriginNotAllowed = "api.origin_not_allowed"
  case apiOutsideRegistration = "api.outside_registration"
  case apiWalletUnsupported = "api.wallet_unsupported"
  case readerCertificateExpired = "api.reader_certificate_expired"
  case apiTooManyAgeRequests = "api.too_many_age_requests"
  case apiUnauthenticated = "api.unauthenticated"
  case apiForbidden = "api.forbidden"
  case apiNotFound = "api.not_found"
  case apiMethodNotAllowed = "api.method_not_allowed"
  case apiIdempotencyInProgress = "api.idempotency_in_progress"
  case apiIdempotencyKeyReused = "api.idempotency_key_reused"
  case apiBodyTooLarge = "api.body_too_large"
  case apiHeadersTooLarge = "api.headers_too_large"
  case apiTargetTooLong = "api.target_too_long"
  case apiUnsupportedMediaType = "api.unsupported_media_type"
  case trustReloadFailed = "api.trust_reload_failed"
  case apiRateLimited = "api.rate_limited"
  case apiSessionTooLarge = "api.session_too_large"
  case apiQuotaExceeded = "api.quota_exceeded"
  case configurationReloadFailed = "api.configuration_reload_failed"
  case apiOverloaded = "api.overloaded"
  case apiStoreUnavailable = "api.store_unavailable"
  case apiInternal = "api.internal"
}

extension Code {
  /// The code's index among this build's codes, for tables of all of them. It is never stored: it changes with every
  /// new code.
  ///
  /// An enumeration without payloads counts its cases in the order of their declaration: in one byte up to 256 cases,
  /// in two beyond.
  public var place: Int { withUnsafeBytes(of: self) { $0.count == 1 ? Int($0[0]) : Int($0.load(as: UInt16.self)) } }
}

/// The meaning of one code: people read it, `mdoc codes` prints it, problems and reports contain it.
public struct CodeEntry: Sendable {
  /// The finding, in one sentence.
  public let summary: String
  /// The clause that the check enforces.
  public let clause: String
  /// What the person who meets it should do.
  public let remedy: String
  /// Whether a finding only warns, and rejects in strict mode alone.
  public let isWarning: Bool
}
