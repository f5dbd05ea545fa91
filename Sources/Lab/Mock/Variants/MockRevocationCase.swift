import Base
import CBOR

/// A named case of a revocation check: the wallet's response, the published lists, the policy, and the codes. Each list
/// of the mock authority has a case. The other cases are rows of `Revocation.txt`.
package struct MockRevocationCase: MockDeclared {
  /// The relying party's policy on revocation, by its name in the HTTP API.
  package enum Policy: String, Sendable, CaseIterable {
    case requireGood = "require_good"
    case allowUndetermined = "allow_undetermined"
    case off
  }

  /// The response. Its codes hold under `policy`, after the lists are fetched.
  package private(set) var variant: MockVariant
  package private(set) var policy = Policy.requireGood
  /// True if status lists may be JSON Web Tokens.
  package private(set) var allowsJWT = false
  /// True if the good anchor's settings allow lists over plain HTTP.
  package let allowsPlainHTTP: Bool
  /// True if the good anchor's settings require HTTPS on the standard port for revocation lists.
  package let keepsCRLsToHTTPS: Bool
  /// True if the case applies only in live mode, where a verifier must not fetch from its own machine.
  package let needsLiveRules: Bool
  /// True if the verifier asks a publisher for a list.
  package private(set) var isAsked: Bool
  private let lists: [NamedList]

  package var declaration: MockDeclaration { variant.declaration }

  /// The served lists. No other address replies.
  package func publications(by authority: MockAuthority, at now: Timestamp) throws -> [MockPublication] {
    let good = lists.contains { $0.list.kind == .crl } ? [] : [NamedList(.good(.crl))]
    return try (good + lists).compactMap { try $0.publication(by: authority, at: now) }
  }

  /// - Parameters:
  ///   - mutation: the changes of the response, without the names of lists.
  ///   - words: options of a row.
  private init(
    _ declaration: MockDeclaration, _ lists: [NamedList], _ mutation: MockMutation = .none, words: [String] = []
  ) {
    let names = MockMutation(Stages.setup) { setup in
      var status = MapDraft()
      for named in lists where named.isNamed { try named.name(in: &setup, status: &status) }
      if !status.entries.isEmpty { setup.status = status.value }
    }
    variant = MockVariant(declaration, mutation + names)
    variant.isAboutLists = true
    allowsPlainHTTP = words.contains("plain-http")
    keepsCRLsToHTTPS = words.contains("https-only")
    needsLiveRules = words.contains("live")
    isAsked = !words.contains("unasked")
    self.lists = lists
  }

  private init(_ list: MockList) {
    self.init(list.declaration, [NamedList(list)])
    allowsJWT = list.isJWT
  }

  private init(_ row: VariantTable.Row) {
    let lists = row.options.compactMap { NamedList($0, edits: row.mutation) }
    self.init(row.declaration, lists, row.mutation, words: row.options)
  }

  private static let revoked: Set = [
    "revocation.signer_revoked", "revocation.authority_revoked", "revocation.document_revoked",
    "revocation.document_suspended",
  ]

  /// The same case, with its codes under another policy. Under `allowUndetermined`, an undetermined status is only a
  /// warning. Under `off`, revocation is not checked.
  private func under(_ policy: Policy) -> MockRevocationCase {
    let stays = policy == .off ? [] : Self.revoked
    let passing = codes.filter { $0.rawValue.hasPrefix("revocation.") && !stays.contains($0.rawValue) }
    var changed = declaration
    changed.name += policy == .off ? "-off" : "-allowed"
    changed.summary =
      "\(summary.dropLast()), \(policy == .off ? "and revocation is not checked" : "and an undetermined status is only a warning")."
    changed.codes.removeAll(where: passing.contains)
    changed.warnings += policy == .off ? [] : passing
    var copy = self
    copy.variant = MockVariant(changed, variant.mutation)
    copy.variant.isAboutLists = true
    copy.policy = policy
    copy.isAsked = isAsked && policy != .off
    return copy
  }
}

extension MockRevocationCase {
  /// Every case, in the order of its codes.
  package static let all: [MockRevocationCase] = {
    let rows = VariantTable.rows("Revocation", PackageResources.Revocation_txt)
    let lists = MockList.all.filter { !MockList.Kind.ofAnchors.contains($0.kind) }.map { MockRevocationCase($0) }
    let first = lists + rows.filter { !$0.options.contains("sources") }.map { MockRevocationCase($0) }
    let policies = underPolicies.flatMap { name in
      first.filter { $0.name == name }.flatMap { [$0.under(.allowUndetermined), $0.under(.off)] }
    }
    let sources = rows.filter { $0.options.contains("sources") }.flatMap { row in
      let made = MockRevocationCase(row)
      return row.options.contains("policies") ? [made, made.under(.allowUndetermined), made.under(.off)] : [made]
    }
    return first + policies + sources
  }()

  package static func named(_ name: String) -> MockRevocationCase? { all.first { $0.name == name } }

  /// One case of each kind, repeated under the two weaker policies.
  private static let underPolicies = [
    "crl-signer-revoked", "crl-authority-revoked", "crl-stale", "crl-too-large", "crl-unreachable", "status-revoked",
    "status-suspended", "status-3", "status-other-subject", "status-index-beyond", "status-too-large",
    "status-unreachable", "status-mechanism-unknown", "identifiers-revoked", "identifiers-bad-signature",
    "identifiers-unreachable",
  ]
}

/// A list that a case publishes or refers to.
private struct NamedList {
  let list: MockList
  /// The name of a CRL's issuer (`MockAuthority.listIssuer`); nil for the good authority.
  var issuer: String?
  /// The list's address; nil for the authority's default address. An address that starts with a slash is relative to
  /// the authority's base address.
  var address: String?
  /// A fault of `MockPublication`, or `nobody` if nothing is published; nil to serve the list.
  var fault: String?
  /// True if the document or a certificate refers to the list.
  var isNamed = true

  init(_ list: MockList) { self.list = list }

  /// - Parameters:
  ///   - word: `+KIND:ISSUER=NAME!FAULT@ADDRESS`. For any other word, the result is nil.
  ///   - edits: the edits of the list with the name `edited`.
  init?(_ word: String, edits: MockMutation) {
    guard let match = word.wholeMatch(of: #/(\+?)([a-z]+)(?::([^=!@]+))?(?:=([^!@]+))?(?:!([^@]+))?(?:@(.+))?/#),
      let kind = MockList.Kind(rawValue: String(match.2))
    else { return nil }
    let good = MockList.good(kind)
    switch match.4 {
    case "edited"?: list = MockList(good.declaration, kind, edits)
    case let name?: list = MockList.named(String(name)) ?? good
    case nil: list = good
    }
    isNamed = match.1.isEmpty
    issuer = match.3.map(String.init)
    fault = match.5.map(String.init)
    address = match.6.map(String.init)
  }

  func publication(by authority: MockAuthority, at now: Timestamp) throws -> MockPublication? {
    let address = address(authority) ?? list.kind.address(authority)
    if let fault { return MockPublication.Fault(rawValue: fault).map { .init(address: address, reply: .fault($0)) } }
    let bytes = try list.published(by: authority, for: issuer, at: list.kind == .crl ? nil : address, now: now)
    return MockPublication(address: address, reply: .list(bytes: bytes, mediaType: list.mediaType))
  }

  /// Puts a reference to the list into the document's status, or into the certificate that the CRL's issuer has signed.
  func name(in setup: inout DocumentSetup, status: inout MapDraft) throws {
    let address = address(setup.authority)
    if list.kind != .crl {
      status.entries += MapDraft(try list.status(by: setup.authority, at: address, now: setup.now)).entries
    }
    guard list.kind == .crl, let address else { return }
    if issuer == nil || issuer == CertificateIssuer.intermediateList {
      setup.signer.certificate.nameList(at: address)
    } else {
      setup.signer.intermediate?.template.nameList(at: address)
    }
  }

  private func address(_ authority: MockAuthority) -> String? {
    address.map { $0.hasPrefix("/") ? authority.addresses.base + $0.dropFirst() : $0 }
  }
}
