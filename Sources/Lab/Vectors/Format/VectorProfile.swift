import Base

/// What a library may claim to do. It is judged only for what it claims.
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

  /// One line for help and reports.
  package var meaning: String {
    switch self {
    case .core: "DeviceResponse and SessionTranscript of ISO/IEC 18013-5"
    case .apple: "Apple's in-app protocol"
    case .web: "ISO/IEC TS 18013-7 and OpenID4VP"
    case .trustLists: "VICALs and lists of trusted entities"
    case .revocation: "status lists, identifier lists and CRLs"
    case .zeroKnowledge: "proofs of longfellow-libzk-v1"
    }
  }
}

extension TestVector {
  /// All profiles that a verifier must have for this case, in the order of the enumeration.
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
    // Who verifies proofs need not verify plain documents.
    if features.contains("zero-knowledge") { needed = needed.subtracting([.core]).union([.zeroKnowledge]) }
    return VectorProfile.allCases.filter(needed.contains)
  }
}
