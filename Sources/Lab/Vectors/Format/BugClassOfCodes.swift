import Base
import CBOR
import JOSE
import Mdoc
import PKIX
import Sessions
import Trust

extension BugClass {
  /// The attacker's gain if a verifier does not find the code's fault.
  package static func ofMissing(_ code: Code) -> BugClass {
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

extension TestVector.Importance {
  /// Variants and cases whose verdict is a choice of this project. Limits of other verifiers may be wider. RFC 7516, 4
  /// also allows a reader to use the last of two members with the same name, and to leave `zip` unsupported. Some
  /// wallets wrap unencrypted parameters in a JWT. ISO/IEC 18013-5 has no fractions of seconds, and no clock skew. A
  /// verifier may refuse a proof that it did not ask for.
  package static let choices: Set<String> = [
    "dates-with-fraction",
    "chain-100", "signer-20-kilobytes", "signer-1-megabyte", "cbor-too-many-items", "cbor-nested-embedded",
    "issuer-auth-many-parameters", "jwe-alg-twice", "openid4vp-unsecured-jwt-clear", "openid4vp-zip",
    "clock-at-valid-from-less-skew", "clock-at-valid-until-and-skew", "skew-from-1", "skew-from-limit", "skew-until-1",
    "skew-until-limit", "zk-documents-beside",
  ]
}
