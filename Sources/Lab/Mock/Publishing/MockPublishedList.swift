import Base

/// A list of the mock authority as a publisher serves it, and the answer with a document that refers to it.
///
/// Each list has an address of its own, so a list that a verifier keeps never stands in for another.
package struct MockPublishedList: MockDeclared {
  /// What the publisher does with a request for the list.
  package enum Manner: Sendable, Hashable {
    case serves
    /// Answers with status 503.
    case isUnavailable
    /// Sends no answer.
    case isSilent
  }

  enum Content: Sendable {
    /// A revocation list of this issuer.
    case revocationList(MockCRL, issuer: Issuer = .anchor(.good))
    case statusList(MockStatusList)
    case identifierList(MockIdentifierList)
  }

  enum Issuer: Sendable, Hashable {
    case anchor(AnchorKind)
    case intermediate
  }

  /// Its code is what a verifier finds about the document if it requires a good status. No code if the status is good.
  package let declaration: MockDeclaration
  package let manner: Manner
  /// The path below the publisher's base address.
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

  /// The bytes that are served at `path`.
  package func published(by authority: MockAuthority, at now: Timestamp) throws -> [UInt8] {
    let address = address(authority)
    return switch content {
    case .revocationList(let list, let issuer):
      try list.published(by: authority, for: issuer.certificateIssuer(authority), at: now, address: address)
    case .statusList(let list): try list.published(by: authority, at: address, now: now)
    case .identifierList(let list): try list.published(by: authority, at: address, now: now)
    }
  }

  /// A right answer. Its document's status, or its signer's certificate, names this list.
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
  /// All lists that a publisher serves.
  package static let all = standing + chosen

  /// The lists that documents and certificates name unless a variant says otherwise. There is a revocation list for
  /// each anchor and for the intermediate authority. Nothing on these lists concerns a document of the mock wallet.
  package static let standing: [MockPublishedList] =
    AnchorKind.allCases.map { standing($0.rawValue, .anchor($0)) } + [
      standing(CertificateIssuer.intermediateList, .intermediate),
      MockPublishedList(
        MockDeclaration("status", MockStatusList.good.summary), .statusList(.good), path: "status"),
      MockPublishedList(
        MockDeclaration("identifiers", MockIdentifierList.good.summary), .identifierList(.good), path: "identifiers"),
    ]

  /// The lists that a variant's document or its signer names. Each has the variant's name.
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

  /// Left out: to compress its gigabyte takes longer than a verifier waits for a list.
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

/// What a mock publisher serves at an address.
package struct MockPublication: Sendable, Hashable {
  package let address: String
  package let answer: Answer

  package enum Answer: Sendable, Hashable {
    case list(bytes: [UInt8], mediaType: String)
    case fault(Fault)
  }

  /// Why an address that may be asked gives no list.
  package enum Fault: String, Sendable, CaseIterable {
    /// No complete answer arrives.
    case unavailable
    /// The answer has more bytes than a verifier accepts (`Limits.listBytes`).
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

  /// The media type of a CRL (RFC 2585, 4.2).
  package static let crlMediaType = "application/pkix-crl"
}
