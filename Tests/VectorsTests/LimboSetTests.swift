import Base
import TestSupport
import Testing

@testable import PublishedSets
@testable import Vectors

/// x509-limbo's form, with chains made here: the set itself is not copied.
@Suite struct LimboSetTests {
  private let folder: TemporaryFolder
  private let chain: TLSFixture
  private let other: TLSFixture

  init() throws {
    folder = try TemporaryFolder()
    chain = try TLSFixture()
    other = try TLSFixture()
  }

  private func text(_ pem: [UInt8]) -> JSON { .string(String(decoding: pem, as: UTF8.self)) }

  /// A case of the chain under its own root, changed.
  private func made(_ id: String, _ result: String, _ changes: JSON = [:]) -> JSON {
    let members: [JSON.Member] = [
      .init("id", .string(id)), .init("features", .null),
      .init("description", "A **valid** chain:\n\n```\nroot -> leaf"),
      .init("validation_kind", "SERVER"), .init("trusted_certs", [text(chain.authority)]),
      .init("untrusted_intermediates", []), .init("peer_certificate", text(chain.certificate)),
      .init("validation_time", .null), .init("expected_result", .string(result)), .init("max_chain_depth", .null),
    ]
    let changed = changes.object ?? []
    return .object(members.filter { member in !changed.contains { $0.name == member.name } } + changed)
  }

  private func run(_ cases: JSON...) throws -> [VectorResult] {
    let set = JSON.members(["version": 1, "testcases": .array(cases)])
    _ = try folder.write("limbo.json", set.text())
    return try #require(try PublishedSuite.run(at: folder.path, filter: nil)).results
  }

  @Test func `a chain is judged by RFC 5280`() throws {
    let results = try run(
      made("rfc5280::right", "SUCCESS"),
      made("rfc5280::other-root", "FAILURE", ["trusted_certs": [text(other.authority)]]),
      made("rfc5280::no-root", "FAILURE", ["trusted_certs": []]),
      made("rfc5280::later", "FAILURE", ["validation_time": "2069-01-01T00:00:00Z"]),
      made("pathlen::right", "SUCCESS"))
    #expect(results.map(\.outcome) == Array(repeating: .passed, count: 5))
    #expect(results.map(\.summary.id).first == "x509-limbo/rfc5280/right")
    #expect(results.first?.summary.description == "A **valid** chain.")
    #expect(Set(results.map(\.group)) == ["rfc5280", "pathlen"])
  }

  @Test func `what is wrong either way fails`() throws {
    let results = try run(
      made("rfc5280::wrong-and-said-right", "SUCCESS", ["validation_time": "2069-01-01T00:00:00Z"]))
    #expect(results.first?.problem?.hasPrefix("refused with ") == true)
    #expect(results.first?.problem?.contains("trust.certificate.expired") == true)
  }

  /// The chain has no key identifiers, which RFC 5280 demands.
  @Test func `what only warns is a difference with its code`() throws {
    let results = try run(made("rfc5280::without-identifiers", "FAILURE"))
    #expect(
      results.first?.skipReason == "differs: trust.profile.key_identifiers warns, and rejects in strict mode")
  }

  @Test func `what mdoc's profile refuses is a difference with its reason`() throws {
    let results = try run(made("rfc5280::root-as-leaf", "SUCCESS", ["peer_certificate": text(other.authority)]))
    #expect(results.first?.skipReason?.hasPrefix("differs: ") == true)
  }

  @Test func `what is not ours to judge is skipped with its reason`() throws {
    let results = try run(
      made("webpki::name", "SUCCESS"), made("rfc5280::optional", "SUCCESS", ["features": ["name-constraint-dn"]]),
      made("rfc5280::crl", "FAILURE", ["crls": ["x"]]), made("rfc5280::depth", "FAILURE", ["max_chain_depth": 1]),
      made("rfc5280::unreadable", "FAILURE", ["peer_certificate": "none"]))
    #expect(results.allSatisfy { $0.skipReason != nil })
    #expect(Set(results.compactMap(\.skipReason)).count == 5)
  }

  @Test func `a file that is no set is named`() throws {
    _ = try folder.write("limbo.json", "{}")
    let error = #expect(throws: SuiteError.self) { try PublishedSuite.run(at: folder.path, filter: nil) }
    #expect(error?.problem == "holds no testcases")
  }
}
