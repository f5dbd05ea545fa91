import Base

/// A named way to answer: right, or wrong in one respect.
package struct MockVariant: MockCatalogued {
  /// The protocols for which a variant's codes hold. Over others its answer may be right, or wrong in another way.
  package enum Applicability: String, Sendable {
    /// Every protocol.
    case anyProtocol
    /// Apple's in-app route: the fault is in its envelope.
    case appleInApp
    /// Every protocol except Apple's in-app route, which takes the same answer for something else.
    case notAppleInApp
    /// Answers that are authenticated by a MAC, in protocols that give the verifier a reader key.
    case deviceMAC
    /// Every protocol without a reader key of the verifier, such as Apple's in-app route.
    case withoutReaderKey
    /// The Digital Credentials API's `org-iso-mdoc` (ISO/IEC TS 18013-7, Annex C).
    case annexC
    /// OpenID4VP 1.0, over the Digital Credentials API, by redirect or by QR code.
    case openID4VP
    /// OpenID4VP 1.0 with encrypted answers.
    case openID4VPEncrypted
    /// OpenID4VP 1.0 over the Digital Credentials API.
    case openID4VPDigitalCredentials
    /// OpenID4VP 1.0 by redirect or QR code.
    case openID4VPRedirect
    /// The older OpenID4VP of ISO/IEC TS 18013-7, Annex B.
    case annexB
    /// Answers with a zero-knowledge proof, over every protocol that has them.
    case zeroKnowledge
  }

  package let declaration: MockDeclaration
  package let applicability: Applicability
  /// The request that shows the variant best. The codes also hold for `MockRequest.standard`.
  package let request: MockRequest
  /// Whether the answer must be verified at exactly the `now` that it was made for, because its dates are at the limit.
  package let needsFixedClock: Bool
  let mutation: MockMutation

  init(
    _ name: String, _ summary: String, cases: String = "", codes: [Code] = [], warnings: [Code] = [],
    applicability: Applicability = .anyProtocol, request: MockRequest = .standard, needsFixedClock: Bool = false,
    _ mutation: MockMutation = .none
  ) {
    self.init(
      MockDeclaration(name, summary, cases: cases, codes: codes, warnings: warnings), applicability: applicability,
      request: request, needsFixedClock: needsFixedClock, mutation)
  }

  init(
    _ declaration: MockDeclaration, applicability: Applicability = .anyProtocol, request: MockRequest = .standard,
    needsFixedClock: Bool = false, _ mutation: MockMutation
  ) {
    self.declaration = declaration
    self.applicability = applicability
    self.request = request
    self.needsFixedClock = needsFixedClock
    self.mutation = mutation
  }

  /// The clause that the primary check enforces; nil if the answer is accepted.
  package var clause: String? { codes.first?.entry.clause }

  package static let good = MockVariant("good", "Nothing is wrong.", .none)

  /// Variants that are about the same part of an answer.
  package struct Group: Sendable {
    package let name: String
    package let variants: [MockVariant]
  }

  /// Every group, in the order of the checks.
  package static let groups: [Group] = [
    Group(name: "controls", variants: controls),
    Group(name: "framing", variants: framing + limits),
    Group(name: "apple-in-app", variants: appleEnvelope + appleMocks),
    Group(name: "annex-c", variants: annexC),
    Group(name: "openid4vp", variants: openID4VPControls + handovers + jwe + vpToken + walletErrors + annexB),
    Group(name: "response", variants: response + slips),
    Group(name: "issuer-auth", variants: issuerAuth),
    Group(name: "chains", variants: chains),
    Group(name: "certificates", variants: certificates + certificateKeys),
    Group(name: "mso", variants: mobileSecurityObject),
    Group(name: "items", variants: items),
    Group(name: "validity", variants: validity),
    Group(name: "device-auth", variants: deviceKey + deviceAuth),
    Group(name: "acceptance", variants: acceptance),
    Group(
      name: "zero-knowledge",
      variants: proofControls + proofDenials + proofBytes + proofStatements + proofIssuers + proofStructure),
  ]

  /// Every variant, in the order of the checks.
  package static let all: [MockVariant] = groups.flatMap(\.variants)

  package static func named(_ name: String) -> MockVariant? { byName[name] }

  private static let byName = Dictionary(all.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
}

/// Collects variants. The compiler type-checks each one by itself.
@resultBuilder
enum MockVariantList {
  static func buildBlock(_ variants: [MockVariant]...) -> [MockVariant] { variants.flatMap { $0 } }
  static func buildExpression(_ variant: MockVariant) -> [MockVariant] { [variant] }
  static func buildExpression(_ variants: [MockVariant]) -> [MockVariant] { variants }
  static func buildArray(_ variants: [[MockVariant]]) -> [MockVariant] { variants.flatMap { $0 } }
}

extension MockVariant {
  /// Whether the variant's codes hold for answers over this protocol, by its name in the HTTP API.
  ///
  /// - Parameters:
  ///   - isEncrypted: whether the request asks for an encrypted answer, where the protocol leaves the choice.
  ///   - usesMAC: whether the device sends a MAC in place of a signature.
  ///   - hasProofs: whether the wallet proves documents, and a proof is asked for.
  package func holds(
    over protocolName: String, isEncrypted: Bool = true, usesMAC: Bool = false, hasProofs: Bool = false
  ) -> Bool {
    let isInApp = protocolName == "apple-in-app"
    let isRedirect = protocolName == "openid4vp"
    let isAnnexB = protocolName == "openid4vp-iso-18013-7-annex-b"
    let isWeb = protocolName.hasPrefix("openid4vp-v1-")
    // OpenID4VP's encryption key is the reader key. A reader in person hands its own in.
    let isInPerson = protocolName == MockProtocol.proximity
    let hasReaderKey = isAnnexB || isInPerson || ((isRedirect || isWeb) && isEncrypted) || usesMAC
    return switch applicability {
    case .anyProtocol: true
    case .appleInApp: isInApp
    case .notAppleInApp: !isInApp
    case .deviceMAC: hasReaderKey
    case .withoutReaderKey: !hasReaderKey
    case .annexC: protocolName == MockProtocol.annexC
    case .openID4VP: isRedirect || isWeb
    case .openID4VPEncrypted: (isRedirect || isWeb) && isEncrypted
    case .openID4VPDigitalCredentials: isWeb
    case .openID4VPRedirect: isRedirect
    case .annexB: isAnnexB
    case .zeroKnowledge: hasProofs && !isInApp && !isAnnexB
    }
  }
}
