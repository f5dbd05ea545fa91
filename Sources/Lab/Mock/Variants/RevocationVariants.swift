import Base
import CBOR

// Lists that publishers serve, right and wrong, at the addresses that a right document and its signer name.

extension MockRevocationCase {
  /// Every list that the mock authority can publish.
  static let lists: [MockRevocationCase] =
    MockCRL.all.map { crl($0) } + MockStatusList.all.map { status($0) } + MockIdentifierList.all.map { identifiers($0) }
    + [
      MockRevocationCase(
        MockVariant(
          "status-jwt-not-allowed", "The list is a JSON Web Token, which the policy does not take.", cases: "R06",
          codes: [.statusListInvalid], .status(.named("status-jwt")))
      ) { try [crl(by: $0, at: $1), statusList(.named("status-jwt"), by: $0, at: $1)] },
      MockRevocationCase(
        MockVariant(
          "status-two-lists", "The document is valid by its status list, and revoked by its identifier list.",
          cases: "R12", codes: [.documentRevoked],
          .setup {
            let status = try MapDraft(MockStatusList.good.status(by: $0.authority, now: $0.now))
            let identifiers = try MapDraft(
              MockIdentifierList.named("identifiers-revoked")?.status(by: $0.authority, now: $0.now))
            $0.status = .map(status.entries + identifiers.entries)
          })
      ) {
        try [
          crl(by: $0, at: $1), statusList(by: $0, at: $1),
          identifierList(.named("identifiers-revoked"), by: $0, at: $1),
        ]
      },
    ]

  /// A list's address gives no answer, or too large a one (rows R04, R08).
  static let unreachable: [MockRevocationCase] = [
    fault("crl-unreachable", "Nobody has the signer's revocation list.", .revocationUnavailable) { _, _ in [] },
    fault("crl-unavailable", "The revocation list's publisher is down.", .revocationUnavailable) { authority, _ in
      [MockPublication(address: authority.addresses.crl, fault: .unavailable)]
    },
    fault(
      "crl-endless", "The revocation list's publisher sends more than is taken.", .revocationListTooLarge, cases: "R08"
    ) { authority, _ in [MockPublication(address: authority.addresses.crl, fault: .tooLarge)] },
    fault("status-unreachable", "Nobody has the status list.", .revocationUnavailable, .status(.good)) {
      try [crl(by: $0, at: $1)]
    },
    fault(
      "status-unavailable", "The status list's publisher is down.", .revocationUnavailable, .status(.good)
    ) {
      try [crl(by: $0, at: $1), MockPublication(address: $0.addresses.statusList, fault: .unavailable)]
    },
    fault(
      "status-endless", "The status list's publisher sends more than is taken.", .revocationListTooLarge,
      .status(.good), cases: "R08"
    ) {
      try [crl(by: $0, at: $1), MockPublication(address: $0.addresses.statusList, fault: .tooLarge)]
    },
    fault(
      "identifiers-unreachable", "Nobody has the identifier list.", .revocationUnavailable, .identifiers(.good)
    ) { try [crl(by: $0, at: $1)] },
  ]

  /// One case of each kind, under the two policies that require less.
  static let policies: [MockRevocationCase] = [
    "crl-signer-revoked", "crl-authority-revoked", "crl-stale", "crl-too-large", "crl-unreachable", "status-revoked",
    "status-suspended", "status-3", "status-other-subject", "status-index-beyond", "status-too-large",
    "status-unreachable", "status-mechanism-unknown", "identifiers-revoked", "identifiers-bad-signature",
    "identifiers-unreachable",
  ].flatMap { name in
    (lists + unreachable).filter { $0.name == name }.flatMap { [$0.under(.allowUndetermined), $0.under(.off)] }
  }

  private static func fault(
    _ name: String, _ summary: String, _ code: Code, _ mutation: MockMutation = .none, cases: String = "R04",
    publish: @escaping @Sendable (MockAuthority, Timestamp) throws -> [MockPublication]
  ) -> MockRevocationCase {
    MockRevocationCase(MockVariant(name, summary, cases: cases, codes: [code], mutation), publish: publish)
  }

  // MARK: One list

  private static func crl(_ list: MockCRL) -> MockRevocationCase {
    MockRevocationCase(MockVariant(list.declaration, .none)) { try [crl(list, by: $0, at: $1)] }
  }

  private static func status(_ list: MockStatusList) -> MockRevocationCase {
    MockRevocationCase(MockVariant(list.declaration, .status(list)), allowsJWT: list.isJWT) {
      try [crl(by: $0, at: $1), statusList(list, by: $0, at: $1)]
    }
  }

  private static func identifiers(_ list: MockIdentifierList) -> MockRevocationCase {
    MockRevocationCase(MockVariant(list.declaration, .identifiers(list))) {
      try [crl(by: $0, at: $1), identifierList(list, by: $0, at: $1)]
    }
  }

  // MARK: Publications

  /// The authority's revocation list, at the address that its certificates name, or at another.
  static func crl(
    _ list: MockCRL = .good, by authority: MockAuthority, at now: Timestamp, address: String? = nil
  ) throws -> MockPublication {
    MockPublication(
      address: address ?? authority.addresses.crl, bytes: try list.published(by: authority, at: now),
      mediaType: MockPublication.crlMediaType)
  }

  static func statusList(
    _ list: MockStatusList? = .good, by authority: MockAuthority, at now: Timestamp, address: String? = nil
  ) throws -> MockPublication {
    let list = list ?? .good
    return MockPublication(
      address: address ?? authority.addresses.statusList,
      bytes: try list.published(by: authority, at: address, now: now), mediaType: list.mediaType)
  }

  static func identifierList(
    _ list: MockIdentifierList? = .good, by authority: MockAuthority, at now: Timestamp, address: String? = nil
  ) throws -> MockPublication {
    MockPublication(
      address: address ?? authority.addresses.identifierList,
      bytes: try (list ?? .good).published(by: authority, at: address, now: now),
      mediaType: MockIdentifierList.mediaType)
  }
}

extension MockMutation {
  /// The document's status refers to this list.
  static func status(_ list: MockStatusList?, at address: String? = nil) -> MockMutation {
    .setup { $0.status = try (list ?? .good).status(by: $0.authority, at: address, now: $0.now) }
  }

  static func identifiers(_ list: MockIdentifierList?, at address: String? = nil) -> MockMutation {
    .setup { $0.status = try (list ?? .good).status(by: $0.authority, at: address, now: $0.now) }
  }
}
