import Base

extension BugClass {
  /// What a verifier that lets the code's fault pass gives to an attacker.
  static func ofMissing(_ code: Code) -> BugClass {
    switch code {
    case .cborNestingTooDeep, .cborLengthExceedsInput, .cborTooManyItems, .cborInputTooLarge, .chainTooLong,
      .revocationListTooLarge, .listTooLarge, .jweCompressionNotAllowed:
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
      ("trust.profile.", .interoperability), ("trust.", .issuerImpersonation), ("mdoc.device", .authenticationBypass),
      ("mdoc.issuer.", .issuerImpersonation), ("mdoc.issuer_auth.certificate", .issuerImpersonation),
      ("policy.", .policyBypass), ("mdoc.", .parserDifferential), ("revocation.", .staleData),
    ]
    return families.first { name.hasPrefix($0.0) }?.1 ?? .interoperability
  }
}

extension VectorFlag {
  /// The flag of cases in which a check is to fail or to warn: `ElementDuplicate` for `mdoc.element.duplicate`.
  static func ofMissing(_ code: Code) -> VectorFlag {
    let name = "\(code)"
    return VectorFlag(name.prefix(1).uppercased() + name.dropFirst(), BugClass.ofMissing(code))
  }

  /// Right answers, which guard against a verifier that rejects everything.
  static let control = VectorFlag("PositiveControl", .interoperability)
}
