import Base
import Cryptography
import Mdoc
import Testing

@testable import Mock

/// Every way of publishing that the mock authority has gives the finding that it says.
@Suite struct MockListTests {
  @Test(arguments: MockStatusList.all.map(\.name))
  func aStatusListIsFoundToBeWhatItIs(name: String) throws {
    let list = try #require(MockStatusList.named(name))
    let finding = try StatusFixture().finding(list)
    #expect(finding.code == list.code, "\(finding)")
  }

  @Test(arguments: MockIdentifierList.all.map(\.name))
  func anIdentifierListIsFoundToBeWhatItIs(name: String) throws {
    let list = try #require(MockIdentifierList.named(name))
    let finding = try StatusFixture().finding(list)
    #expect(finding.code == list.code, "\(finding)")
  }

  /// Why each of them is refused: what is wrong with it, and nothing that comes before.
  private static let reasons: KeyValuePairs<String, String> = [
    "other-subject": "sub is not", "without-subject": "sub is missing", "expired": "expired",
    "without-expiry": "exp is missing", "future": "issued in the future", "without-date": "iat is missing",
    "not-before": "not yet valid", "ttl-zero": "ttl is", "bad-signature": "signature does not verify",
    "unsigned": "signature does not verify", "payload-changed": "signature does not verify", "detached": "detached",
    "cwt-tag": "under tag 18", "untagged": "under tag 18", "claims-no-map": "are no map", "wrong-type": "the type",
    "without-type": "the type", "type-unprotected": "the type", "other-mechanism": "the type",
    "critical-header": "critical", "without-chain": "names no signer", "chain-unprotected": "names no signer",
    "other-root": "no anchor", "other-anchor": "no anchor", "other-key": "signature does not verify",
    "certificate-other": "no anchor", "certificate-malformed": "is malformed", "signer-reader": "extKeyUsage",
    "signer-expired": "has expired at", "signer-key-usage": "keyUsage", "signer-is-root": "is itself the anchor",
  ]

  @Test func everyWrongTokenIsRefusedForWhatIsWrongWithIt() throws {
    let fixture = try StatusFixture()
    #expect(Set(Self.reasons.map(\.key)) == Set(ListTokenDraft.wrongTokens.map(\.name)))
    for token in ListTokenDraft.wrongTokens {
      let reason = try #require(Self.reasons.first { $0.key == token.name }?.value)
      for finding in [try fixture.finding(token.statusList()), try fixture.finding(token.identifierList())] {
        #expect(finding.detail?.contains(reason) == true, "\(token.name): \(finding)")
      }
    }
  }

  @Test(arguments: Curve.allCases.filter { $0.family != .montgomery })
  func listsAreSignedOnEveryCurve(curve: Curve) throws {
    let fixture = try StatusFixture(curve: curve)
    #expect(try fixture.finding(MockStatusList.good) == .good)
    #expect(try fixture.finding(#require(MockStatusList.named("status-revoked"))) == .revoked(.documentRevoked))
    #expect(try fixture.finding(#require(MockStatusList.named("status-jwt"))) == .good)
  }

  @Test func namesAreUniqueAndSummariesSentences() {
    let all =
      MockStatusList.all.map { ($0.name, $0.summary) } + MockIdentifierList.all.map { ($0.name, $0.summary) }
    #expect(Set(all.map(\.0)).count == all.count)
    for (name, summary) in all {
      #expect(summary.hasSuffix("."), "\(name)")
      #expect(name.utf8.allSatisfy { "abcdefghijklmnopqrstuvwxyz0123456789-".utf8.contains($0) }, "\(name)")
    }
  }

  @Test func everyRowOfTheNegativeCasesHasAList() {
    let covered = Set(MockStatusList.all.flatMap(\.cases) + MockIdentifierList.all.flatMap(\.cases))
    #expect(covered.isSuperset(of: ["R05", "R06", "R07", "R08", "R11", "R12"]))
  }
}
