import Base
import CBOR
import JOSE
import Mdoc
import PKIX
import Sessions
import Trust

extension BugClass {
  /// The attacker's gain if a verifier does not find the code's fault.
  static func ofMissing(_ code: Code) -> BugClass {
    switch code {
    case .cborNestingTooDeep, .cborLengthExceedsInput, .cborTooManyItems, .cborInputTooLarge, .chainTooLong,
      .revocationListTooLarge, .listTooLarge, .jwePlaintextTooLarge:
      .denialOfService
    case .envelopeTranscriptMismatch, .envelopeDecryptionFailed, .deviceSignatureInvalid, .stateMismatch: .replay
    case .envelopeRecipientKeyUnknown, .envelopeEncapsulatedKeyInvalid, .envelopeModeUnsupported,
      .envelopeAlgorithmUnsupported, .envelopeNotEncrypted, .jweAlgorithmUnsupported, .jweKeyUnknown,
      .jweEphemeralKeyInvalid:
      .disclosure
    case .appleSimulatorAnswer, .appleProfileAnswer, .issuerAuthMissing, .issuerSignatureInvalid,
      .issuerAlgorithmUnsupported, .issuerAlgorithmKeyMismatch, .digestMissing, .digestMismatch, .digestIDDuplicate,
      .digestAlgorithmUnsupported, .msoMissing, .msoDocTypeMismatch, .itemRandomTooShort:
      .forgery
    case .validityInconsistent, .signedInFuture, .notYetValid, .expired, .validityExceedsCertificate,
      .documentExpired, .anchorExpired, .certificateExpired, .signedOutsideCertificate, .listExpired, .listRollback,
      .listIssuedInFuture:
      .staleData
    case .revocationSourceNotAllowed, .listSourceNotAllowed: .requestForgery
    case .listMalformed, .listCriticalExtension, .listVersionUnsupported: .parserDifferential
    case .listSignerUntrusted, .listSignerProfile, .listSignatureInvalid, .listAlgorithmUnsupported,
      .listEntryMismatch, .listEntryNotGranted:
      .issuerImpersonation
    case .documentUnexpected, .documentsMissing, .documentErrorsPresent, .responseStatusNotOK, .docTypeNotRequested,
      .elementTypeInvalid, .zeroKnowledgeUnsupported, .encryptedDocumentsUnsupported:
      .policyBypass
    default: ofFamily(code)
    }
  }

  private static func ofFamily(_ code: Code) -> BugClass {
    let name = code.rawValue
    let families: [(String, BugClass)] = [
      ("cbor.", .parserDifferential), ("cose.", .parserDifferential), ("envelope.", .parserDifferential),
      ("jwe.", .parserDifferential), ("vp_token.", .policyBypass), ("wallet.", .interoperability),
      ("zk.timestamp_stale", .staleData), ("zk.", .forgery), ("trust.profile.", .interoperability),
      ("trust.", .issuerImpersonation), ("mdoc.device", .authenticationBypass),
      ("mdoc.issuer.", .issuerImpersonation), ("mdoc.issuer_auth.certificate", .issuerImpersonation),
      ("policy.", .policyBypass), ("mdoc.", .parserDifferential), ("revocation.", .staleData),
    ]
    return families.first { name.hasPrefix($0.0) }?.1 ?? .interoperability
  }
}

extension VectorFlag {
  /// The flag of cases in which the code's check must fail or warn: `ElementDuplicate` for `mdoc.element.duplicate`.
  package static func ofMissing(_ code: Code) -> VectorFlag {
    VectorFlag(code.flagName, BugClass.ofMissing(code))
  }

  /// Right answers, which guard against a verifier that rejects everything.
  package static let control = VectorFlag("PositiveControl", .interoperability)

  /// A flag for each code: the consequence if a verifier lets the fault pass. Right answers have the control flag too.
  package static func all(codes: [Code], warnings: [Code]) -> [VectorFlag] {
    let found = (codes.isEmpty ? warnings : codes).map(ofMissing)
    return codes.isEmpty ? [control] + found : found
  }
}

extension TestVector.Importance {
  /// Variants whose verdict is a choice of this project. Limits of other verifiers may be wider, RFC 7516, 4 also
  /// allows a reader to take the last of two equal members and not to support `zip`, some wallets wrap clear parameters
  /// in a JWT, and ISO/IEC 18013-5 has no fractions of seconds.
  package static let choices: Set<String> = [
    "dates-with-fraction",
    "chain-100", "signer-20-kilobytes", "signer-1-megabyte", "cbor-too-many-items", "cbor-nested-embedded",
    "issuer-auth-many-parameters", "jwe-alg-twice", "openid4vp-unsecured-jwt-clear", "openid4vp-zip",
  ]
}

extension Code {
  /// The flag of vectors in which the code's check must fail or warn: `ElementDuplicate` for `mdoc.element.duplicate`.
  ///
  /// Flags are part of the published corpus: a new code gets the name by the rules, and no flag ever changes.
  var flagName: String {
    if let name = Self.otherFlags[rawValue] { return name }
    let rule = Self.flagPrefixes.first { rawValue.hasPrefix($0.prefix) }
    let rest = rawValue.dropFirst(rule?.prefix.count ?? 0)
    return (rule?.flag ?? "") + rest.split { $0 == "." || $0 == "_" }.map { Self.capitalized(String($0)) }.joined()
  }

  private static func capitalized(_ word: String) -> String {
    ["id", "ca", "ok", "utf8", "uri"].contains(word)
      ? word.uppercased() : word.prefix(1).uppercased() + word.dropFirst()
  }

  private static let flagPrefixes: [(prefix: String, flag: String)] = [
    ("mdoc.issuer_auth.", "Issuer"), ("mdoc.device_auth.", "Device"), ("mdoc.response.", ""), ("mdoc.validity.", ""),
    ("mdoc.", ""), ("trust.certificate.", "Certificate"), ("trust.", ""), ("policy.", ""), ("revocation.", ""),
    ("session.", ""),
  ]

  private static let otherFlags = [
    "envelope.response_mode_mismatch": "ResponseModeMismatch", "mdoc.response.malformed": "ResponseMalformed",
    "mdoc.response.version_unsupported": "ResponseVersionUnsupported",
    "mdoc.response.status_not_ok": "ResponseStatusNotOK", "mdoc.response.document_errors": "DocumentErrorsPresent",
    "mdoc.response.deviation": "ResponseDeviation", "mdoc.issuer_auth.missing": "IssuerAuthMissing",
    "mdoc.issuer_auth.malformed": "IssuerAuthMalformed",
    "mdoc.issuer_auth.x5t_mismatch": "IssuerCertificateThumbprintMismatch", "trust.store_empty": "TrustStoreEmpty",
    "trust.not_for_doc_type": "IssuerNotTrustedForDocType",
    "mdoc.mso.digest_algorithm_unsupported": "DigestAlgorithmUnsupported",
    "mdoc.validity.inconsistent": "ValidityInconsistent",
    "mdoc.validity.exceeds_certificate": "ValidityExceedsCertificate",
    "mdoc.device_signed.element_unauthorized": "DeviceElementUnauthorized",
    "mdoc.device_auth.missing": "DeviceAuthMissing", "mdoc.device_auth.ambiguous": "DeviceAuthAmbiguous",
    "mdoc.device_auth.malformed": "DeviceAuthMalformed",
    "revocation.mechanism_unsupported": "RevocationMechanismUnsupported",
    "revocation.source_not_allowed": "RevocationSourceNotAllowed",
    "revocation.list_too_large": "RevocationListTooLarge", "revocation.unavailable": "RevocationUnavailable",
    "wallet.vp_formats_not_supported": "WalletFormatsNotSupported",
  ]
}
