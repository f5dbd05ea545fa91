import Base
import Cryptography
import Longfellow

/// The reason for a case: the name of a verifier's mistake and the attacker's gain.
package struct VectorFlag: Sendable, Hashable {
  package var name: String
  package var bugClass: BugClass

  package init(_ name: String, _ bugClass: BugClass) { (self.name, self.bugClass) = (name, bugClass) }

  static let shape = Shape<VectorFlag>.form(
    "flag", from: VectorFlag("", .interoperability), Member("name", \.name, .nonEmpty),
    Member("bug_class", \.bugClass, .name))
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
    case .authenticationBypass: "Someone without the document's device is accepted as its holder."
    case .forgery: "Data without an issuer's signature are accepted."
    case .issuerImpersonation: "A document of an untrusted issuer is accepted."
    case .replay: "A response to another session or relying party is accepted."
    case .disclosure: "Personal data are disclosed to the wrong party."
    case .denialOfService: "One small message exhausts the verifier's memory, time or stack."
    case .parserDifferential: "Two parsers read the same bytes differently, so the used content is unchecked."
    case .staleData: "A document that is expired, revoked or not yet valid is accepted."
    case .policyBypass: "A request is treated as fulfilled although the data do not fulfil it."
    case .requestForgery: "A document makes the verifier send requests to hosts that trust its network."
    case .interoperability: "A right document is refused, or a fault is not noticed."
    }
  }
}

/// The stage that a response reaches: parse → open → authenticate → accept.
package enum VectorStage: String, Sendable, Hashable, CaseIterable {
  /// The DeviceResponse cannot be read.
  case parse
  /// The envelope cannot be read, is not for this session, or cannot be decrypted.
  case open
  /// The issuer, the digests, the validity or the device authentication fails.
  case authenticate
  /// The document is genuine, but does not fit the request.
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

  /// The stage of a code that occurs at a single stage, after the response is opened and read.
  package static func natural(_ code: Code) -> VectorStage {
    code.rawValue.hasPrefix("policy.") || answering.contains(code) ? .accept : .authenticate
  }

  /// Prefixes of codes about the envelope around the DeviceResponse.
  package static let opening = ["envelope.", "jwe.", "session.state_", "vp_token.", "wallet."]

  /// Prefixes of codes that no vector can reach: vectors have no session state, no HTTP and no proximity session data.
  private static let unheard = ["session.", "api.", "proximity."]

  /// Codes of a response that does not fit the request, though every part of it may be genuine.
  private static let answering: Set<Code> = [
    .responseStatusNotOK, .documentErrorsPresent, .documentsMissing, .documentUnexpected, .docTypeNotRequested,
    .elementTypeInvalid, .zeroKnowledgeUnsupported, .encryptedDocumentsUnsupported,
  ]

  /// Codes of a list's form. They occur while the signature's envelope or the signed content is read.
  package static let readInLists: Set<Code> = [.listMalformed, .listTooLarge, .listCriticalExtension]

  /// Codes of the structure. They occur while the response or the signed content is read.
  private static let structural: Set<Code> = [
    .responseMalformed, .issuerAuthMissing, .issuerAuthMalformed, .itemMalformed, .itemNotTag24, .coseHeaderDuplicate,
    .coseCritUnsupported, .msoMissing, .msoMalformed, .deviceAuthMalformed, .deviceAuthMissing, .deviceAuthAmbiguous,
  ]
}

/// A capability that a library may claim. A library is judged only on the capabilities that it claims.
package enum VectorProfile: String, Sendable, Hashable, CaseIterable {
  /// ISO/IEC 18013-5: a DeviceResponse and its SessionTranscript.
  case core
  /// Apple's in-app protocol.
  case apple
  /// ISO/IEC TS 18013-7 and OpenID4VP.
  case web
  /// VICALs and lists of trusted entities.
  case trustLists = "trust-lists"
  /// Status lists, identifier lists and CRLs.
  case revocation
  /// longfellow-libzk-v1.
  case zeroKnowledge = "zero-knowledge"
}

extension TestVector {
  /// All profiles that a verifier must support for this case, in the order of the enumeration.
  package var profiles: [VectorProfile] {
    var needed: Set<VectorProfile> = []
    switch session {
    case .proximity: needed.insert(.core)
    case .appleInApp: needed.insert(.apple)
    case .annexC, .openID4VP: needed.insert(.web)
    case .list: needed.insert(.trustLists)
    }
    if anchorList != nil { needed.insert(.trustLists) }
    if policy.revocation != .off || features.contains("revocation") { needed.insert(.revocation) }
    // Verifiers of proofs need not verify plain documents.
    if features.contains("zero-knowledge") { needed = needed.subtracting([.core]).union([.zeroKnowledge]) }
    return VectorProfile.allCases.filter(needed.contains)
  }
}

/// Names of capabilities that a case may need.
package enum VectorFeature {
  /// The features of the project's own corpus, sorted.
  package static let known: [String] =
    ([
      "apple-in-app", "apple-mocks", "cbor-indefinite-lengths", "device-mac", "jwt-status-lists", "large-input",
      "openid4vp", "openid4vp-annex-b", "org-iso-mdoc", "pinned-signers", "revocation", "rfc9864-algorithms",
      "strict-policy", "warnings", "zero-knowledge",
    ] + Curve.allCases.filter { $0.family != .montgomery }.map { "curve-\($0.rawValue)" }
    + VectorList.Format.allCases.map(\.rawValue) + KnownCircuit.all.map(\.feature)).sorted()
}

extension KnownCircuit {
  /// The capability to verify proofs by this circuit: `longfellow-v7-1`.
  package var feature: String { "longfellow-\(name)" }
}
