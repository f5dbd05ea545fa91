import Base

/// Why a case exists: the name of a mistake in verifiers, and what an attacker gains by it.
package struct VectorFlag: Sendable, Hashable {
  package var name: String
  package var bugClass: BugClass

  package init(_ name: String, _ bugClass: BugClass) {
    self.name = name
    self.bugClass = bugClass
  }
}

/// The consequence for the relying party if a verifier gets a case wrong.
package enum BugClass: String, Sendable, Hashable, CaseIterable {
  case authenticationBypass = "authentication_bypass"
  case forgery
  case issuerImpersonation = "issuer_impersonation"
  case replay
  case disclosure
  case denialOfService = "denial_of_service"
  case parserDifferential = "parser_differential"
  case staleData = "stale_data"
  case policyBypass = "policy_bypass"
  case requestForgery = "request_forgery"
  case interoperability

  /// One sentence for an auditor.
  package var consequence: String {
    switch self {
    case .authenticationBypass: "Someone who does not hold the document's device passes for its holder."
    case .forgery: "Data that no issuer signed pass as an issuer's."
    case .issuerImpersonation: "Someone who is no trusted issuer issues documents that are believed."
    case .replay: "An answer made for another session or another relying party is believed here."
    case .disclosure: "Personal data reach those who have no business with them."
    case .denialOfService: "One small message takes the verifier's memory, time or stack."
    case .parserDifferential: "Two readers of the same bytes see two contents: what is checked is not what is used."
    case .staleData: "A document that is no longer, or not yet, good is believed."
    case .policyBypass: "A decision falls in the person's favour on data that do not say so."
    case .requestForgery: "A document makes the verifier send requests to hosts that trust its network."
    case .interoperability: "A right document is refused, or a fault goes unnoticed."
    }
  }
}

extension BugClass {
  /// What an attacker gains if a verifier does not find the code's fault.
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
  static func ofMissing(_ code: Code) -> VectorFlag {
    let name = "\(code)"
    return VectorFlag(name.prefix(1).uppercased() + name.dropFirst(), BugClass.ofMissing(code))
  }

  /// Right answers, which guard against a verifier that rejects everything.
  static let control = VectorFlag("PositiveControl", .interoperability)
}

/// How far an answer gets: parse → open → authenticate → accept.
package enum VectorStage: String, Sendable, Hashable, CaseIterable {
  /// The DeviceResponse cannot be read.
  case parse
  /// The envelope cannot be read, is not for this session, or cannot be decrypted.
  case open
  /// The issuer, the digests, the validity or the device authentication fails.
  case authenticate
  /// The document is genuine, but not what was requested.
  case accept
  /// Verified.
  case accepted

  /// The stages at which a code can be the primary one; empty if no vector can reach it.
  package static func stages(of code: Code) -> Set<VectorStage> {
    let name = code.rawValue
    if name.hasPrefix("cbor.") { return [.parse, .open, .authenticate] }
    if opening.contains(where: name.hasPrefix) { return [.open] }
    if name.hasPrefix("apple.") { return [.open, .authenticate] }
    if unheard.contains(where: name.hasPrefix) { return [] }
    if structural.contains(code) || readInLists.contains(code) { return [.parse, .authenticate] }
    return [natural(code)]
  }

  /// The stage of a code that has exactly one, after the answer is opened and read.
  static func natural(_ code: Code) -> VectorStage {
    code.rawValue.hasPrefix("policy.") || answering.contains(code) ? .accept : .authenticate
  }

  /// Prefixes of codes about the envelope around the DeviceResponse.
  static let opening = ["envelope.", "jwe.", "session.state_", "vp_token.", "wallet."]

  /// Prefixes of codes that no vector can reach: vectors have no session state, no HTTP and no proximity session data.
  private static let unheard = ["session.", "api.", "proximity."]

  /// Codes of an answer that does not fit the request, though every part of it may be genuine.
  private static let answering: Set<Code> = [
    .responseStatusNotOK, .documentErrorsPresent, .documentsMissing, .documentUnexpected, .docTypeNotRequested,
    .elementTypeInvalid, .zeroKnowledgeUnsupported, .encryptedDocumentsUnsupported,
  ]

  /// Codes of a list's form. They come up while reading the signature's envelope or the signed content.
  static let readInLists: Set<Code> = [.listMalformed, .listTooLarge, .listCriticalExtension]

  /// Codes of the structure. They come up while reading the response or the signed content.
  static let structural: Set<Code> = [
    .responseMalformed, .issuerAuthMissing, .issuerAuthMalformed, .itemMalformed, .itemNotTag24, .coseHeaderDuplicate,
    .coseCritUnsupported, .msoMissing, .msoMalformed, .deviceAuthMalformed, .deviceAuthMissing, .deviceAuthAmbiguous,
  ]
}
