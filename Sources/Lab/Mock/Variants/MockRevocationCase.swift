import Base
import CBOR
import Cryptography

/// A named case of a revocation check: the wallet's answer, the lists that publishers serve, the policy, and the codes
/// that a verifier finds.
package struct MockRevocationCase: MockCatalogued {
  /// The relying party's policy on revocation, by its name in the HTTP API.
  package enum Policy: String, Sendable, CaseIterable {
    case requireGood = "require_good"
    case allowUndetermined = "allow_undetermined"
    case off
  }

  /// The answer, with the codes that a verifier finds under `policy` after it has fetched the lists.
  package let variant: MockVariant
  package let policy: Policy
  /// Whether status lists may be JSON Web Tokens.
  package let allowsJWT: Bool
  /// Whether the good anchor's settings allow lists over plain HTTP.
  package let allowsPlainHTTP: Bool
  /// Whether the good anchor's settings require HTTPS on its own port for revocation lists.
  package let keepsCRLsToHTTPS: Bool
  /// Whether the case holds only for a verifier that may not fetch from its own machine, as in live mode.
  package let needsLiveRules: Bool
  /// Whether the verifier sends any request. If false, not one request leaves it.
  package let isAsked: Bool
  let publish: @Sendable (MockAuthority, Timestamp) throws -> [MockPublication]

  package var declaration: MockDeclaration { variant.declaration }

  init(
    _ variant: MockVariant, policy: Policy = .requireGood, allowsJWT: Bool = false, allowsPlainHTTP: Bool = false,
    keepsCRLsToHTTPS: Bool = false, needsLiveRules: Bool = false, isAsked: Bool = true,
    publish: @escaping @Sendable (MockAuthority, Timestamp) throws -> [MockPublication]
  ) {
    var variant = variant
    variant.isAboutLists = true
    self.variant = variant
    self.policy = policy
    self.allowsJWT = allowsJWT
    self.allowsPlainHTTP = allowsPlainHTTP
    self.keepsCRLsToHTTPS = keepsCRLsToHTTPS
    self.needsLiveRules = needsLiveRules
    self.isAsked = isAsked
    self.publish = publish
  }

  /// What is served in this case. No other address gives an answer.
  package func publications(by authority: MockAuthority, at now: Timestamp) throws -> [MockPublication] {
    try publish(authority, now)
  }

  /// Every case, in the order of its codes.
  package static let all: [MockRevocationCase] =
    lists + unreachable + policies + sources + declarations
}

extension MockRevocationCase {
  /// The same case under another policy. Under `allowUndetermined`, what is revoked is still refused, and what is not
  /// known only warns. Under `off`, nothing is asked.
  func under(_ policy: Policy) -> MockRevocationCase {
    let stays: Set<Code> = policy == .off ? [] : Self.revoked
    let ofRevocation = codes.filter { $0.rawValue.hasPrefix("revocation.") }
    let passing = ofRevocation.filter { !stays.contains($0) }
    let stem = summary.hasSuffix(".") ? String(summary.dropLast()) : summary
    var changed = declaration
    changed.name += policy == .off ? "-off" : "-allowed"
    changed.summary = "\(stem), \(policy == .off ? "and nothing is asked" : "and what is not known may pass")."
    changed.codes.removeAll(where: passing.contains)
    changed.warnings += policy == .off ? [] : passing
    return MockRevocationCase(
      MockVariant(changed, request: variant.request, variant.mutation), policy: policy, allowsJWT: allowsJWT,
      allowsPlainHTTP: allowsPlainHTTP,
      keepsCRLsToHTTPS: keepsCRLsToHTTPS, needsLiveRules: needsLiveRules, isAsked: isAsked && policy != .off,
      publish: publish)
  }

  private static let revoked: Set<Code> = [.signerRevoked, .authorityRevoked, .documentRevoked, .documentSuspended]
}

// Which publishers are asked about revocation, and when none is.

extension MockRevocationCase {
  static let declarations: [MockRevocationCase] =
    [
      MockRevocationCase(
        MockVariant(
          "revocation-not-declared", "Neither the signer's certificate nor the document names a list.",
          warnings: [.profileRevocationSource], .setup { $0.signer.setDistributionPoint(nil) }),
        isAsked: false
      ) { _, _ in [] }
    ] + untrusted + intermediates

  /// An issuer that is not trusted, or did not sign, could make the verifier fetch anything, so its lists are not
  /// fetched (row R10). The published lists say "revoked", so a verifier that fetched them would find another code.
  private static let untrusted: [MockRevocationCase] = [
    nobodyAsked(
      "status-issuer-unknown", "Nobody trusts the issuer of a document that names a status list.", .issuerUnknown,
      MockMutation(setup: {
        try $0.useUnknownRoot()
        $0.status = try revokedStatus($0)
      })),
    nobodyAsked(
      "status-issuer-signature", "The issuer's signature of a document that names a status list does not verify.",
      .issuerSignatureInvalid,
      MockMutation(
        setup: { $0.status = try revokedStatus($0) }, issuerAuthParts: { $0.signature = $0.signature.flipped })),
    nobodyAsked(
      "crl-signer-certificate-signature", "The signer's certificate names a list, and the anchor has not signed it.",
      .certificateSignatureInvalid,
      .setup { $0.signer.issuerKey = try $0.authority.seed.key("impostor", on: $0.authority.issuerCurve) }),
  ]

  private static func revokedStatus(_ setup: AnswerSetup) throws -> CBORValue? {
    try MockStatusList.named("status-revoked")?.status(by: setup.authority, now: setup.now)
  }

  private static func nobodyAsked(
    _ name: String, _ summary: String, _ code: Code, _ mutation: MockMutation
  ) -> MockRevocationCase {
    MockRevocationCase(MockVariant(name, summary, cases: "R10", codes: [code], mutation), isAsked: false) {
      try [
        crl(MockCRL.named("crl-signer-revoked") ?? .good, by: $0, at: $1),
        statusList(.named("status-revoked"), by: $0, at: $1),
      ]
    }
  }

  /// A certificate between anchor and signer. Its issuer and the signer's issuer each have a list (row R02).
  private static let intermediates: [MockRevocationCase] = [
    intermediate("crl-intermediate", "Neither the signer nor the authority between it and the anchor is revoked.", []),
    intermediate(
      "crl-intermediate-revoked", "The authority between the anchor and the signer is revoked.", [.authorityRevoked]
    ) { $0.entries.append(.init(serialNumber: intermediateNumber, date: $0.thisUpdate)) },
    intermediate(
      "crl-intermediate-stale", "The anchor's list, on which the authority below it would be, is a second too old.",
      [.crlInvalid]
    ) { $0.nextUpdate = $0.thisUpdate + 1 },
  ]

  private static let intermediateNumber: [UInt8] = [0x49, 0x43, 0x41, 0x18, 0x01, 0x35, 0x05, 0x2d]

  private static func intermediate(
    _ name: String, _ summary: String, _ codes: [Code],
    _ change: @escaping @Sendable (inout RevocationListTemplate) -> Void = { _ in }
  ) -> MockRevocationCase {
    MockRevocationCase(
      MockVariant(
        name, summary, cases: codes == [.crlInvalid] ? "R03" : "R02", codes: codes,
        .setup { setup in
          let addresses = setup.authority.addresses
          try setup.useIntermediate(under: .pathLengthOne) {
            $0.serialNumber = intermediateNumber
            $0[oid: CertificateExtension.crlDistributionPointsOID] = .crlDistributionPoint(uri: addresses.anchorCRL)
          }
          setup.signer.setDistributionPoint(.crlDistributionPoint(uri: addresses.intermediateCRL))
        })
    ) { authority, now in
      let intermediate = try authority.intermediateIssuer()
      var ofAnchor = RevocationListTemplate(issuer: try authority.certificateIssuer(.pathLengthOne), at: now)
      change(&ofAnchor)
      return [
        MockPublication(
          address: authority.addresses.anchorCRL, bytes: try ofAnchor.der(), mediaType: MockPublication.crlMediaType),
        MockPublication(
          address: authority.addresses.intermediateCRL,
          bytes: try RevocationListTemplate(issuer: intermediate, at: now).der(),
          mediaType: MockPublication.crlMediaType),
      ]
    }
  }
}

extension MockAddresses {
  fileprivate var anchorCRL: String { base + "path-length-1.crl" }
  fileprivate var intermediateCRL: String { base + "intermediate.crl" }
}
