import Base

/// A list of the mock authority's as a publisher serves it, and the answer whose document refers to it.
///
/// Each has an address of its own that never changes its mind, so that what a verifier keeps of one list says nothing
/// about another.
package struct MockPublishedList: Sendable {
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

  package let name: String
  /// What is particular about it, in one sentence.
  package let summary: String
  /// The rows of the project's list of negative cases.
  package let cases: [String]
  /// What a verifier that requires a good status finds about the document; nil: that it is good.
  package let code: Code?
  package let manner: Manner
  /// Under the publisher's base address.
  package let path: String
  let content: Content

  init(
    _ name: String, _ summary: String, cases: [String], _ code: Code?, _ content: Content, manner: Manner = .serves,
    path: String? = nil
  ) {
    self.name = name
    self.summary = summary
    self.cases = cases
    self.code = code
    self.content = content
    self.manner = manner
    self.path = path ?? "lists/\(name)"
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
      name, summary, cases: cases.joined(separator: " "), codes: code.map { [$0] } ?? [],
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
