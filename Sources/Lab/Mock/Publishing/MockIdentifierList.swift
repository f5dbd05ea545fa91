import Base
import CBOR

/// One named way for the mock authority to publish a document's status in an identifier list, which names the revoked
/// documents: rightly, or wrongly in one respect.
package struct MockIdentifierList: MockCatalogued {
  /// Its code is what a verifier finds about the document; none: it is good.
  package let declaration: MockDeclaration
  let change: MockChange<ListTokenDraft>

  init(
    _ name: String, _ summary: String, cases: String = "", _ code: Code? = nil,
    _ change: @escaping MockChange<ListTokenDraft> = { _ in }
  ) {
    self.init(MockDeclaration(name, summary, cases: cases, code: code), change)
  }

  init(_ declaration: MockDeclaration, _ change: @escaping MockChange<ListTokenDraft>) {
    self.declaration = declaration
    self.change = change
  }

  package static let mediaType = "application/identifierlist+cwt"

  /// `status` of the mobile security object, for a list at this address; nil: the authority's own.
  package func status(by authority: MockAuthority, at uri: String? = nil, now: Timestamp) throws -> CBORValue {
    try draft(authority, uri, now).declaration
  }

  /// The list's bytes, to be served at the same address.
  package func published(by authority: MockAuthority, at uri: String? = nil, now: Timestamp) throws -> [UInt8] {
    try draft(authority, uri, now).encoded()
  }

  package static let good = MockIdentifierList("identifiers-others", "Other documents are revoked.", cases: "R12")

  package static let all: [MockIdentifierList] =
    [
      good,
      MockIdentifierList("identifiers-none", "No document is revoked.", cases: "R12") { $0.content = .identifiers([]) },
      MockIdentifierList("identifiers-short-type", "The type is written without application/.") {
        $0.protected[ListTokenDraft.Label.type] = "identifierlist+cwt"
      },
      MockIdentifierList("identifiers-revoked", "The document is revoked.", cases: "R12", .documentRevoked) {
        $0.content = .identifiers(others + [.bytes(identifier)])
      },
      invalid("identifiers-text", "The document's identifier is on the list as text.") {
        $0.content = .identifiers(others + [.text(Hex.encode(identifier))])
      },
      invalid("identifiers-reference-text", "The document's status gives its identifier as text.") {
        $0.reference["id"] = .text(Hex.encode(identifier))
      },
      invalid("identifiers-without-list", "The claims have no identifier list.") { $0.content = .none },
      invalid("identifiers-twice", "An identifier is on the list twice.") {
        $0.content = .identifiers(others + [others[0]])
      },
    ] + ListTokenDraft.wrongTokens.map { $0.identifierList() }

  static let identifier: [UInt8] = [0x6d, 0x64, 0x6f, 0x63, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
  private static let others: [CBORValue] = (0..<16).map { .bytes(Array(identifier.dropLast()) + [0x40 + $0]) }

  private static func invalid(
    _ name: String, _ summary: String, _ change: @escaping MockChange<ListTokenDraft>
  ) -> MockIdentifierList {
    MockIdentifierList(name, summary, cases: "R06", .statusListInvalid, change)
  }

  private func draft(_ authority: MockAuthority, _ uri: String?, _ now: Timestamp) throws -> ListTokenDraft {
    var draft = try ListTokenDraft(
      "identifier_list", type: Self.mediaType, place: ("id", .bytes(Self.identifier)),
      uri: uri ?? authority.addresses.identifierList,
      content: .identifiers(Self.others), by: authority, at: now)
    try change(&draft)
    return draft
  }
}
