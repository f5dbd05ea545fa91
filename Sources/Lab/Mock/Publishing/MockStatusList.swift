import Base
import CBOR

/// One named way for the mock authority to publish a document's status in a status list: rightly, or wrongly in one
/// respect. A document is issued with `status`, and the list is served at the address that this names.
package struct MockStatusList: Sendable {
  package let name: String
  /// What is particular about it, in one sentence.
  package let summary: String
  /// The rows of the project's list of negative cases.
  package let cases: [String]
  /// What a verifier finds about the document; nil: that it is good.
  package let code: Code?
  /// Whether the list is a JSON Web Token, which a verifier takes only where its policy says so.
  package let isJWT: Bool
  let change: @Sendable (inout ListTokenDraft) throws -> Void

  init(
    _ name: String, _ summary: String, cases: String = "", _ code: Code? = nil, isJWT: Bool = false,
    _ change: @escaping @Sendable (inout ListTokenDraft) throws -> Void = { _ in }
  ) {
    self.name = name
    self.summary = summary
    self.cases = cases.split(separator: " ").map(String.init)
    self.code = code
    self.isJWT = isJWT
    self.change = change
  }

  package static let mediaType = "application/statuslist+cwt"
  package static let jwtMediaType = "application/statuslist+jwt"
  package var mediaType: String { isJWT ? Self.jwtMediaType : Self.mediaType }

  /// `status` of the mobile security object, for a list at this address; nil: the authority's own.
  package func status(by authority: MockAuthority, at uri: String? = nil, now: Timestamp) throws -> CBORValue {
    try draft(authority, uri, now).declaration
  }

  /// The list's bytes, to be served at the same address.
  package func published(by authority: MockAuthority, at uri: String? = nil, now: Timestamp) throws -> [UInt8] {
    try draft(authority, uri, now).encoded()
  }

  package static func named(_ name: String) -> MockStatusList? { all.first { $0.name == name } }

  /// The document's place in lists that have nothing else to say about it, and how many entries these have.
  static let index = 412
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
  /// A list in which only the document has this status.
  mutating func setStatus(_ status: UInt8, bits: Int64) {
    var entries = [UInt8](repeating: 0, count: MockStatusList.entries)
    entries[MockStatusList.index] = status
    content = .statuses(entries, bits: bits)
  }
}
