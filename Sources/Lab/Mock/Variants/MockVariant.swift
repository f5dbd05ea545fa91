import Base

/// A named way to answer: right, or wrong in one respect.
package struct MockVariant: MockCatalogued {
  /// The answers for which a variant's codes hold. To any other the wallet does not apply it.
  package enum Applicability: String, Sendable {
    /// Every protocol.
    case anyProtocol = "any_protocol"
    /// Apple's in-app route: the fault is in its envelope.
    case appleInApp = "apple_in_app"
    /// Every protocol except Apple's in-app route, which takes the same answer for something else.
    case notAppleInApp = "not_apple_in_app"
    /// Answers that are authenticated by a MAC, in protocols that give the verifier a reader key.
    case deviceMAC = "device_mac"
    /// Every protocol without a reader key of the verifier, such as Apple's in-app route.
    case withoutReaderKey = "without_reader_key"
    /// The Digital Credentials API's `org-iso-mdoc` (ISO/IEC TS 18013-7, Annex C).
    case annexC = "annex_c"
    /// OpenID4VP 1.0, over the Digital Credentials API, by redirect or by QR code.
    case openID4VP = "openid4vp"
    /// OpenID4VP 1.0 with encrypted answers.
    case openID4VPEncrypted = "openid4vp_encrypted"
    /// OpenID4VP 1.0 with answers in the clear.
    case openID4VPClear = "openid4vp_clear"
    /// OpenID4VP 1.0 over the Digital Credentials API.
    case openID4VPDigitalCredentials = "openid4vp_digital_credentials"
    /// OpenID4VP 1.0 by redirect or QR code.
    case openID4VPRedirect = "openid4vp_redirect"
    /// The older OpenID4VP of ISO/IEC TS 18013-7, Annex B.
    case annexB = "annex_b"
    /// Answers with a zero-knowledge proof, over every protocol that has them.
    case zeroKnowledge = "zero_knowledge"
  }

  package let declaration: MockDeclaration
  package let applicability: Applicability
  /// The request that shows the variant best. The codes also hold for `MockRequest.standard`.
  package let request: MockRequest
  /// Whether the answer must be verified at exactly the `now` that it was made for, because its dates are at the limit.
  package let needsFixedClock: Bool
  /// Whether the codes are about lists that publishers serve: the answer may then be the right one.
  var isAboutLists = false
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
