import Base

extension MockPublishedList {
  /// Everything that a publisher serves.
  package static let all = standing + chosen

  /// The lists that documents name unless a variant says otherwise: one for each authority that has issued anything
  /// that is right. Nothing is revoked on them.
  package static let standing: [MockPublishedList] =
    AnchorKind.allCases.map { standing($0.rawValue, .anchor($0)) } + [
      standing(CertificateIssuer.intermediateList, .intermediate),
      MockPublishedList(
        "status", MockStatusList.good.summary, cases: [], nil, .statusList(.good), path: "status"),
      MockPublishedList(
        "identifiers", MockIdentifierList.good.summary, cases: [], nil, .identifierList(.good), path: "identifiers"),
    ]

  /// The lists that a variant's document names, each by the variant's name.
  package static let chosen: [MockPublishedList] =
    MockCRL.all.map { MockPublishedList($0.name, $0.summary, cases: $0.cases, $0.code, .revocationList($0)) }
    + MockStatusList.all.filter { $0.name != costly }.map {
      MockPublishedList($0.name, $0.summary, cases: $0.cases, $0.code, .statusList($0))
    }
    + MockIdentifierList.all.map {
      MockPublishedList($0.name, $0.summary, cases: $0.cases, $0.code, .identifierList($0))
    }
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
      name, MockCRL.good.summary, cases: [], nil, .revocationList(.good, issuer: issuer), path: "\(name).crl")
  }

  private static func unserved(
    _ prefix: String, _ subject: String, _ content: Content, _ manner: Manner
  ) -> MockPublishedList {
    MockPublishedList(
      manner == .isSilent ? "\(prefix)-silent" : "\(prefix)-unreachable",
      manner == .isSilent ? "\(subject) is asked for, and no answer comes." : "\(subject) can't be had.",
      cases: ["R04"], .revocationUnavailable, content, manner: manner)
  }
}
