import Base
import CBOR
import Compression
import Cryptography

/// A status list as the mock authority publishes it, by name: right, or wrong in one respect. A document is issued with
/// `status`, and the list is served at the address in it.
package struct MockStatusList: MockCatalogued {
  /// Its code is what a verifier finds about the document. No code if its status is good.
  package let declaration: MockDeclaration
  /// Whether the list is a JSON Web Token, which a verifier accepts only if its policy says so.
  package let isJWT: Bool
  let change: MockChange<ListTokenDraft>

  init(
    _ name: String, _ summary: String, cases: String = "", _ code: Code? = nil, isJWT: Bool = false,
    _ change: @escaping MockChange<ListTokenDraft> = { _ in }
  ) {
    self.init(MockDeclaration(name, summary, cases: cases, code: code), isJWT: isJWT, change)
  }

  init(_ declaration: MockDeclaration, isJWT: Bool = false, _ change: @escaping MockChange<ListTokenDraft>) {
    self.declaration = declaration
    self.isJWT = isJWT
    self.change = change
  }

  package static let mediaType = "application/statuslist+cwt"
  package static let jwtMediaType = "application/statuslist+jwt"
  package var mediaType: String { isJWT ? Self.jwtMediaType : Self.mediaType }

  /// `status` of the mobile security object, for a list at this address; nil for the authority's own.
  package func status(by authority: MockAuthority, at uri: String? = nil, now: Timestamp) throws -> CBORValue {
    try draft(authority, uri, now).declaration
  }

  /// The list's bytes, which are served at the same address.
  package func published(by authority: MockAuthority, at uri: String? = nil, now: Timestamp) throws -> [UInt8] {
    try draft(authority, uri, now).encoded()
  }

  /// The document's index, unless a variant gives it another.
  static let index = 412
  /// The number of entries, unless a variant has another.
  static let entries = 1_024

  private func draft(_ authority: MockAuthority, _ uri: String?, _ now: Timestamp) throws -> ListTokenDraft {
    var draft = try ListTokenDraft(
      "status_list", type: isJWT ? "statuslist+jwt" : Self.mediaType, place: ("idx", .integer(Int64(Self.index))),
      uri: uri ?? authority.addresses.statusList,
      content: .statuses([UInt8](repeating: 0, count: Self.entries), bits: 1), by: authority, at: now)
    draft.isJWT = isJWT
    try change(&draft)
    return draft
  }
}

extension ListTokenDraft {
  /// Sets this status for the document, and 0 for all other entries.
  mutating func setStatus(_ status: UInt8, bits: Int64) {
    var entries = [UInt8](repeating: 0, count: MockStatusList.entries)
    entries[MockStatusList.index] = status
    content = .statuses(entries, bits: bits)
  }
}

extension MockStatusList {
  package static let good = MockStatusList("status-valid", "The document is valid.")

  package static let all: [MockStatusList] =
    [good] + controls + statuses + indices + ListTokenDraft.wrongTokens.map { $0.statusList() } + malformed + oversized

  private static let controls = [
    MockStatusList("status-others-revoked", "Every other document is revoked.") {
      var entries = [UInt8](repeating: 1, count: entries)
      entries[index] = 0
      $0.content = .statuses(entries, bits: 1)
    },
    MockStatusList("status-bits-2", "The document is valid in a list of two bits.") { $0.setStatus(0, bits: 2) },
    MockStatusList("status-bits-4", "The document is valid in a list of four bits.") { $0.setStatus(0, bits: 4) },
    MockStatusList("status-bits-8", "The document is valid in a list of eight bits.") { $0.setStatus(0, bits: 8) },
    MockStatusList("status-last-index", "The document has the last entry of the list.") {
      $0.reference["idx"] = .integer(Int64(entries - 1))
    },
    MockStatusList("status-short-type", "The type is written without application/.") {
      $0.protected[ListTokenDraft.Label.type] = "statuslist+cwt"
    },
    MockStatusList("status-root-in-chain", "The chain ends with the document's own root.") {
      $0.signer.further = [try $0.authority.goodRoot(at: $0.now)]
    },
    MockStatusList("status-certificate", "The list's signer is under a root that the document names.") {
      try $0.signUnderOwnRoot()
      $0.reference["certificate"] = .bytes(try $0.ownRoot())
    },
    MockStatusList("status-certificate-signer", "The list's signer is the certificate that the document names.") {
      try $0.signUnderOwnRoot()
      $0.reference["certificate"] = .bytes(try $0.signer.chain()[0])
    },
    MockStatusList("status-document-signer", "The list is signed by a document signer of the same root.") {
      $0.signer.certificate[oid: CertificateExtension.extendedKeyUsageOID] = .extendedKeyUsage([
        MockSigner.mDLKeyUsage
      ])
    },
    MockStatusList("status-jwt", "The list is a JSON Web Token.", isJWT: true),
  ]

  private static let statuses = [
    MockStatusList("status-revoked", "The document is revoked.", cases: "R05", .documentRevoked) {
      $0.setStatus(1, bits: 1)
    },
    MockStatusList(
      "status-revoked-bits-8", "The document is revoked in a list of eight bits.", cases: "R05", .documentRevoked
    ) { $0.setStatus(1, bits: 8) },
    MockStatusList("status-suspended", "The document is suspended.", cases: "R05", .documentSuspended) {
      $0.setStatus(2, bits: 2)
    },
    MockStatusList("status-3", "The status is one of the issuer's own.", cases: "R05", .statusUnknown) {
      $0.setStatus(3, bits: 2)
    },
    MockStatusList("status-12", "The status is one of the issuer's own.", cases: "R05", .statusUnknown) {
      $0.setStatus(12, bits: 4)
    },
    MockStatusList("status-255", "The status is one that nobody has given a meaning.", cases: "R05", .statusUnknown) {
      $0.setStatus(255, bits: 8)
    },
    MockStatusList(
      "status-jwt-revoked", "The document is revoked, by a JSON Web Token.", cases: "R05", .documentRevoked, isJWT: true
    ) { $0.setStatus(1, bits: 1) },
  ]

  private static let indices = [
    outside("status-index-beyond", "The index is that of the first entry after the list.", .integer(Int64(entries))),
    outside("status-index-largest", "The index is 2^63 − 1.", .integer(.max)),
    outside("status-index-negative", "The index is −1.", -1),
    outside("status-index-2-63", "The index is 2^63.", .unsigned(1 << 63)),
    outside("status-index-text", "The index is a text.", "412"),
    MockStatusList(
      "status-mechanism-unknown", "The document's status names a mechanism that nobody knows.", cases: "R11",
      .revocationMechanismUnsupported
    ) { $0.status = ["bloom_filter": $0.reference.value] },
  ]

  private static let malformed = [
    invalid("status-without-list", "The claims have no status list.") { $0.content = .none },
    invalid("status-bits-3", "The entries have three bits.") { $0.content = .packed(try packed(), bits: 3) },
    invalid("status-without-bits", "The list does not say how many bits an entry has.") {
      $0.content = .packed(try packed(), bits: nil)
    },
    invalid("status-not-compressed", "The entries are not compressed.") {
      $0.content = .packed([UInt8](repeating: 0, count: entries / 8), bits: 1)
    },
    invalid("status-truncated", "The compressed entries are cut off.") {
      $0.content = .packed(try packed().dropLast(), bits: 1)
    },
    invalid("status-trailing-bytes", "A byte follows the compressed entries.") {
      $0.content = .packed(try packed() + [0], bits: 1)
    },
    invalid("status-dictionary", "The compressed entries need a dictionary.") {
      $0.content = .packed([0x78, 0xf9, 0, 0, 0, 1] + (try packed().dropFirst(2)), bits: 1)
    },
    MockStatusList(
      "status-jwt-other-subject", "A JSON Web Token is about another list.", cases: "R06", .statusListInvalid,
      isJWT: true
    ) { $0.claims[ListTokenDraft.Label.subject] = "https://status.mdoc-mock.invalid/other" },
    MockStatusList(
      "status-jwt-wrong-type", "A JSON Web Token is of no type that is a status list's.", cases: "R06",
      .statusListInvalid, isJWT: true
    ) { $0.protected[ListTokenDraft.Label.type] = "JWT" },
  ]

  private static let oversized = [
    MockStatusList(
      "status-bomb", "The list's gigabyte of zeros is compressed to a megabyte.", cases: "R08", .revocationListTooLarge
    ) {
      $0.content = .packed(try bomb.get(), bits: 1)
    },
    MockStatusList(
      "status-too-large", "The list is larger than any verifier here takes.", cases: "R08", .revocationListTooLarge
    ) { $0.claims["filler"] = .bytes([UInt8](repeating: 0, count: Limits.listBytes)) },
  ]

  /// Made only once, since a gigabyte takes seconds.
  private static let bomb = Result {
    try Deflation.deflate(repeating: [UInt8](repeating: 0, count: 1 << 20), count: 1 << 10)
  }

  private static func packed() throws -> [UInt8] {
    try packedStatuses([UInt8](repeating: 0, count: entries), bits: 1)
  }

  private static func outside(_ name: String, _ summary: String, _ index: CBORValue) -> MockStatusList {
    MockStatusList(name, summary, cases: "R07", .statusIndexOutOfRange) { $0.reference["idx"] = index }
  }

  private static func invalid(
    _ name: String, _ summary: String, _ change: @escaping MockChange<ListTokenDraft>
  ) -> MockStatusList {
    MockStatusList(name, summary, cases: "R06", .statusListInvalid, change)
  }
}

/// An identifier list, which names the revoked documents, as the mock authority publishes it, by name: right, or wrong
/// in one respect.
package struct MockIdentifierList: MockCatalogued {
  /// Its code is what a verifier finds about the document. No code if its status is good.
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

  /// `status` of the mobile security object, for a list at this address; nil for the authority's own.
  package func status(by authority: MockAuthority, at uri: String? = nil, now: Timestamp) throws -> CBORValue {
    try draft(authority, uri, now).declaration
  }

  /// The list's bytes, which are served at the same address.
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
