import Base

/// How far an answer gets: parse → open → authenticate → accept.
package enum VectorStage: String, Sendable, Hashable, CaseIterable {
  /// The DeviceResponse can't be read as one.
  case parse
  /// The envelope is not one, is not for this session, or can't be decrypted.
  case open
  /// Issuer, digests, validity or device do not hold.
  case authenticate
  /// The document is genuine and not what was asked for.
  case accept
  /// Verified.
  case accepted

  /// The stages at which a code can be the primary one.
  package static func stages(of code: Code) -> Set<VectorStage> {
    let name = code.rawValue
    if name.hasPrefix("cbor.") { return [.parse, .open, .authenticate] }
    if opening.contains(where: name.hasPrefix) || code == .stateMismatch { return [.open] }
    if name.hasPrefix("apple.") { return [.open, .authenticate] }
    if unheard.contains(where: name.hasPrefix) { return [] }
    if structural.contains(code) || readInLists.contains(code) { return [.parse, .authenticate] }
    return [natural(code)]
  }

  /// The stage of a code that belongs to one, once the answer is open and read.
  static func natural(_ code: Code) -> VectorStage {
    code.rawValue.hasPrefix("policy.") || answering.contains(code) ? .accept : .authenticate
  }

  /// Families of what is wrong around the DeviceResponse.
  static let opening = ["envelope.", "jwe.", "vp_token.", "wallet."]

  /// Families that no vector can reach: there is no session, no HTTP, and nobody hands in session data.
  private static let unheard = ["session.", "api.", "proximity."]

  /// What does not fit the request, though every part of it may be genuine.
  private static let answering: Set<Code> = [
    .responseStatusNotOK, .documentErrorsPresent, .documentsMissing, .documentUnexpected, .docTypeNotRequested,
    .elementTypeInvalid, .zeroKnowledgeUnsupported, .encryptedDocumentsUnsupported,
  ]

  /// Faults of a list's own form, met while reading the signature's envelope or what is signed inside it.
  static let readInLists: Set<Code> = [.listMalformed, .listTooLarge, .listCriticalExtension]

  /// Faults of structure, met while reading the response or what is signed inside it.
  static let structural: Set<Code> = [
    .responseMalformed, .issuerAuthMissing, .issuerAuthMalformed, .itemMalformed, .itemNotTag24, .coseHeaderDuplicate,
    .coseCritUnsupported, .msoMissing, .msoMalformed, .deviceAuthMalformed, .deviceAuthMissing, .deviceAuthAmbiguous,
  ]
}
