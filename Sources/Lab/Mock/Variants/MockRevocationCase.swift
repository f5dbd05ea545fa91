import Base

/// One named circumstance in which it is asked whether a document and its signer are still good: what the wallet
/// answers, what publishers serve, and under which policy that comes to what.
package struct MockRevocationCase: Sendable {
  /// What the relying party wants to know of revocation, by its name in the HTTP API.
  package enum Policy: String, Sendable, CaseIterable {
    case requireGood = "require_good"
    case allowUndetermined = "allow_undetermined"
    case off
  }

  /// The answer, with the codes that a verifier is to come to under `policy` once it has asked.
  package let variant: MockVariant
  package let policy: Policy
  /// Whether status lists may be JSON Web Tokens.
  package let allowsJWT: Bool
  /// Whether the good anchor's settings allow lists over plain HTTP.
  package let allowsPlainHTTP: Bool
  /// Whether they have revocation lists come over HTTPS alone, on its own port.
  package let keepsCRLsToHTTPS: Bool
  /// Whether the case holds only for a verifier that may not fetch from its own machine, as one in live mode.
  package let needsLiveRules: Bool
  /// Whether there is anything to ask of anybody: otherwise not one request leaves the verifier.
  package let isAsked: Bool
  let publish: @Sendable (MockAuthority, Timestamp) throws -> [MockPublication]

  package var name: String { variant.name }
  package var summary: String { variant.summary }
  package var cases: [String] { variant.cases }
  package var codes: [Code] { variant.codes }
  package var warnings: [Code] { variant.warnings }

  init(
    _ variant: MockVariant, policy: Policy = .requireGood, allowsJWT: Bool = false, allowsPlainHTTP: Bool = false,
    keepsCRLsToHTTPS: Bool = false, needsLiveRules: Bool = false, isAsked: Bool = true,
    publish: @escaping @Sendable (MockAuthority, Timestamp) throws -> [MockPublication]
  ) {
    self.variant = variant
    self.policy = policy
    self.allowsJWT = allowsJWT
    self.allowsPlainHTTP = allowsPlainHTTP
    self.keepsCRLsToHTTPS = keepsCRLsToHTTPS
    self.needsLiveRules = needsLiveRules
    self.isAsked = isAsked
    self.publish = publish
  }

  /// What is served while the case is run. Nothing can be had from any other address.
  package func publications(by authority: MockAuthority, at now: Timestamp) throws -> [MockPublication] {
    try publish(authority, now)
  }

  /// Every case, in the order of the codes that it is about.
  package static let all: [MockRevocationCase] =
    lists + unreachable + policies + sources + declarations

  package static func named(_ name: String) -> MockRevocationCase? { byName[name] }

  private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
}

extension MockRevocationCase {
  /// The same under another policy: what is revoked stays refused where anybody asks, what is not known may pass.
  func under(_ policy: Policy) -> MockRevocationCase {
    let stays: Set<Code> = policy == .off ? [] : Self.revoked
    let ofRevocation = codes.filter { $0.rawValue.hasPrefix("revocation.") }
    let passing = ofRevocation.filter { !stays.contains($0) }
    let stem = summary.hasSuffix(".") ? String(summary.dropLast()) : summary
    let changed = MockVariant(
      "\(name)-\(policy == .off ? "off" : "allowed")",
      "\(stem), \(policy == .off ? "and nothing is asked" : "and what is not known may pass").",
      cases: cases.joined(separator: " "), codes: codes.filter { !passing.contains($0) },
      warnings: warnings + (policy == .off ? [] : passing), request: variant.request, variant.mutation)
    return MockRevocationCase(
      changed, policy: policy, allowsJWT: allowsJWT, allowsPlainHTTP: allowsPlainHTTP,
      keepsCRLsToHTTPS: keepsCRLsToHTTPS, needsLiveRules: needsLiveRules, isAsked: isAsked && policy != .off,
      publish: publish)
  }

  private static let revoked: Set<Code> = [.signerRevoked, .authorityRevoked, .documentRevoked, .documentSuspended]
}
