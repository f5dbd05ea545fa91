import Base

/// A list of the mock authority's as a publisher serves it, and the answer whose document refers to it.
///
/// Each has an address of its own, so what a verifier keeps of one list says nothing about another.
package struct MockPublishedList: MockDeclared {
  /// What the publisher does when it is asked.
  package enum Manner: Sendable, Hashable {
    case serves
    /// Answers that the service is unavailable.
    case isUnavailable
    /// Takes the request and says nothing.
    case isSilent
  }

  enum Content: Sendable {
    /// A revocation list: of the good authority, or of the one with this name.
    case revocationList(MockCRL, issuer: Issuer = .anchor(.good))
    case statusList(MockStatusList)
    case identifierList(MockIdentifierList)
  }

  enum Issuer: Sendable, Hashable {
    case anchor(AnchorKind)
    case intermediate
  }

  /// Its code is what a verifier that requires a good status finds about the document; none: it is good.
  package let declaration: MockDeclaration
  package let manner: Manner
  /// Under the publisher's base address.
  package let path: String
  let content: Content

  init(_ declaration: MockDeclaration, _ content: Content, manner: Manner = .serves, path: String? = nil) {
    self.declaration = declaration
    self.content = content
    self.manner = manner
    self.path = path ?? "lists/\(declaration.name)"
  }

  package var mediaType: String {
    switch content {
    case .revocationList: "application/pkix-crl"
    case .statusList(let list): list.mediaType
    case .identifierList: MockIdentifierList.mediaType
    }
  }

  /// The bytes that stand at `path`.
  package func published(by authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    let address = address(authority)
    return switch content {
    case .revocationList(let list, let issuer):
      try list.published(by: authority, for: issuer.certificateIssuer(authority), at: now, address: address)
    case .statusList(let list): try list.published(by: authority, at: address, now: now)
    case .identifierList(let list): try list.published(by: authority, at: address, now: now)
    }
  }

  /// A right answer, whose document's status or whose signer's certificate names this list.
  package var variant: MockVariant {
    MockVariant(
      declaration,
      .setup { setup in
        let address = address(setup.authority)
        switch content {
        case .revocationList: setup.signer.nameList(at: address)
        case .statusList(let list): setup.status = try list.status(by: setup.authority, at: address, now: setup.now)
        case .identifierList(let list): setup.status = try list.status(by: setup.authority, at: address, now: setup.now)
        }
      })
  }

  private func address(_ authority: MockAuthority) -> String { authority.addresses.base + path }
}

extension MockPublishedList.Issuer {
  fileprivate func certificateIssuer(_ authority: MockAuthority) throws -> CertificateIssuer {
    switch self {
    case .anchor(let kind): try authority.certificateIssuer(kind)
    case .intermediate: try authority.intermediateIssuer()
    }
  }
}

extension MockPublishedList {
  /// Everything that a publisher serves.
  package static let all = standing + chosen

  /// The lists that documents name unless a variant says otherwise: one for each authority that has issued anything
  /// that is right. Nothing is revoked on them.
  package static let standing: [MockPublishedList] =
    AnchorKind.allCases.map { standing($0.rawValue, .anchor($0)) } + [
      standing(CertificateIssuer.intermediateList, .intermediate),
      MockPublishedList(
        MockDeclaration("status", MockStatusList.good.summary), .statusList(.good), path: "status"),
      MockPublishedList(
        MockDeclaration("identifiers", MockIdentifierList.good.summary), .identifierList(.good), path: "identifiers"),
    ]

  /// The lists that a variant's document names, each by the variant's name.
  package static let chosen: [MockPublishedList] =
    MockCRL.all.map { MockPublishedList($0.declaration, .revocationList($0)) }
    + MockStatusList.all.filter { $0.name != costly }.map { MockPublishedList($0.declaration, .statusList($0)) }
    + MockIdentifierList.all.map { MockPublishedList($0.declaration, .identifierList($0)) }
    + unserved

  package static func named(_ name: String) -> MockPublishedList? { chosen.first { $0.name == name } }

  private static let unserved = [
    unserved("crl", "The signer's revocation list", .revocationList(.good), .isUnavailable),
    unserved("crl", "The signer's revocation list", .revocationList(.good), .isSilent),
    unserved("status", "The document's status list", .statusList(.good), .isUnavailable),
    unserved("status", "The document's status list", .statusList(.good), .isSilent),
  ]

  /// Compressing its gigabyte takes longer than anybody waits for a list.
  private static let costly = "status-bomb"

  private static func standing(_ name: String, _ issuer: Issuer) -> MockPublishedList {
    MockPublishedList(
      MockDeclaration(name, MockCRL.good.summary), .revocationList(.good, issuer: issuer), path: "\(name).crl")
  }

  private static func unserved(
    _ prefix: String, _ subject: String, _ content: Content, _ manner: Manner
  ) -> MockPublishedList {
    MockPublishedList(
      MockDeclaration(
        manner == .isSilent ? "\(prefix)-silent" : "\(prefix)-unreachable",
        manner == .isSilent ? "\(subject) is asked for, and no answer comes." : "\(subject) can't be had.",
        cases: "R04", code: .revocationUnavailable),
      content, manner: manner)
  }
}

/// What a mock publisher serves at one address.
package struct MockPublication: Sendable, Hashable {
  package let address: String
  package let answer: Answer

  package enum Answer: Sendable, Hashable {
    case list(bytes: [UInt8], mediaType: String)
    case fault(Fault)
  }

  /// Why there is no list at an address, though the address is one that may be asked.
  package enum Fault: String, Sendable, CaseIterable {
    /// No complete answer comes.
    case unavailable
    /// More bytes come than any verifier here takes.
    case tooLarge = "too_large"
  }

  package init(address: String, bytes: [UInt8], mediaType: String) {
    self.address = address
    answer = .list(bytes: bytes, mediaType: mediaType)
  }

  package init(address: String, fault: Fault) {
    self.address = address
    answer = .fault(fault)
  }

  package var bytes: [UInt8]? { if case .list(let bytes, _) = answer { bytes } else { nil } }
  package var mediaType: String? { if case .list(_, let mediaType) = answer { mediaType } else { nil } }
  package var fault: Fault? { if case .fault(let fault) = answer { fault } else { nil } }

  /// Of a CRL: RFC 2585, 4.2.
  package static let crlMediaType = "application/pkix-crl"
}
