import Base

/// A published list of the mock authority, with a response that refers to the list.
///
/// Each list has its own address, so that no verifier confuses it with another list in its cache.
package struct MockPublishedList: MockDeclared {
  /// The publisher's reaction to a request for the list.
  package enum Manner: Sendable, Hashable {
    case serves
    /// Replies with status 503.
    case isUnavailable
    /// Sends no reply.
    case isSilent
  }

  /// The declared code is the finding about the document if a good status is required. A good status has no code.
  package let declaration: MockDeclaration
  package let manner: Manner
  /// The path below the publisher's base address.
  package let path: String
  let list: MockList
  /// The name of a CRL's issuer (`MockAuthority.listIssuer`); nil for the good authority.
  let issuer: String?

  private init(
    _ declaration: MockDeclaration, _ list: MockList, issuer: String? = nil, manner: Manner = .serves,
    path: String? = nil
  ) {
    self.declaration = declaration
    self.list = list
    self.issuer = issuer
    self.manner = manner
    self.path = path ?? "lists/\(declaration.name)"
  }

  package var mediaType: String { list.mediaType }

  /// The bytes that are served at `path`.
  package func published(by authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    try list.published(by: authority, for: issuer, at: authority.addresses.base + path, now: now)
  }

  /// A correct response with a document that refers to this list, in its status or in its signer's certificate.
  package var variant: MockVariant {
    MockVariant(
      declaration,
      MockMutation(Stages.setup) { setup in
        let address = setup.authority.addresses.base + path
        if list.kind == .crl {
          setup.signer.certificate.nameList(at: address)
        } else {
          setup.status = try list.status(by: setup.authority, at: address, now: setup.now)
        }
      })
  }
}

extension MockPublishedList {
  /// All lists that a publisher serves.
  package static let all = standing + chosen

  /// The lists for correct documents, and the CRLs of each anchor and of the intermediate authority. They revoke no
  /// document.
  package static let standing: [MockPublishedList] =
    (AnchorKind.allCases.map(\.rawValue) + [CertificateIssuer.intermediateList]).map { issuer in
      standing(.crl, issuer, issuer: issuer, path: "\(issuer).crl")
    } + [standing(.status, "status", path: "status"), standing(.identifiers, "identifiers", path: "identifiers")]

  /// The lists of variants, with the variants' names.
  package static let chosen: [MockPublishedList] =
    MockList.all.filter { !MockList.Kind.ofAnchors.contains($0.kind) && $0.name != costly }
    .map { MockPublishedList($0.declaration, $0) } + unserved

  package static func named(_ name: String) -> MockPublishedList? { chosen.first { $0.name == name } }

  private static let unserved = [
    (MockList.Kind.crl, "The signer's revocation list"), (.status, "The document's status list"),
  ].flatMap { kind, subject in
    [
      ("unreachable", "is unavailable", Manner.isUnavailable), ("silent", "is never sent", .isSilent),
    ].map { fault, summary, manner in
      let declaration = MockDeclaration(
        "\(kind.rawValue)-\(fault)", "\(subject) \(summary).", cases: "R04",
        codes: [Code(named: "revocation.unavailable")])
      return MockPublishedList(declaration, .good(kind), manner: manner)
    }
  }

  /// This list is omitted, since compressing its gigabyte takes longer than a verifier waits.
  private static let costly = "status-bomb"

  private static func standing(
    _ kind: MockList.Kind, _ name: String, issuer: String? = nil, path: String
  ) -> MockPublishedList {
    let list = MockList.good(kind)
    return MockPublishedList(MockDeclaration(name, list.summary), list, issuer: issuer, path: path)
  }
}

extension MockAuthority {
  /// The issuer of a CRL: an anchor, or the intermediate authority.
  func listIssuer(_ name: String) throws -> CertificateIssuer {
    try AnchorKind(rawValue: name).map(certificateIssuer) ?? intermediateIssuer()
  }
}

/// A mock publisher's reply at an address.
package struct MockPublication: Sendable, Hashable {
  package let address: String
  package let reply: Reply

  package enum Reply: Sendable, Hashable {
    case list(bytes: [UInt8], mediaType: String)
    case fault(Fault)
  }

  /// The reason why a known address has no list.
  package enum Fault: String, Sendable, CaseIterable {
    /// No complete reply arrives.
    case unavailable
    /// The reply has more bytes than a verifier accepts (`Limits.listBytes`).
    case tooLarge = "too_large"
  }
}
