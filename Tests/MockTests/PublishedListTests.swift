import Base
import Testing

@testable import Mock

/// What the mock publisher serves, and the documents that name it.
@Suite struct PublishedListTests {
  private let now = Timestamp(secondsSince1970: 1_795_000_000)

  @Test func `every list has a name and a path of its own, apart from those of the variants`() {
    let names = MockPublishedList.chosen.map(\.name)
    #expect(Set(names).count == names.count)
    let paths = MockPublishedList.all.map(\.path)
    #expect(Set(paths).count == paths.count)
    #expect(names.filter { MockVariant.named($0) != nil } == [])
    #expect(names.allSatisfy { MockPublishedList.named($0)?.name == $0 })
  }

  @Test func `a variant's document names its list`() throws {
    let authority = try MockAuthority(
      seed: Array("lists".utf8), addresses: MockAddresses(base: "http://127.0.0.1:9100/"))
    let wallet = MockWallet(authority: authority)
    for list in MockPublishedList.chosen where list.name != "status-mechanism-unknown" {
      let answer = try wallet.answer(.standard, transcript: [0xf6], variant: list.variant, at: now)
      let address = Array("http://127.0.0.1:9100/lists/\(list.name)".utf8)
      #expect(answer.bytes.firstRange(of: address) != nil, "\(list.name)")
      #expect(answer.variant.codes == (list.code.map { [$0] } ?? []))
    }
  }

  /// A document that was issued before a restart chains to the same anchor afterwards.
  @Test func `the anchors are the same wherever the lists are`() throws {
    let here = try MockAuthority(seed: [1])
    let there = here.publishing(at: MockAddresses(base: "http://127.0.0.1:9100/"))
    #expect(try here.anchors(at: now).map(\.certificate) == there.anchors(at: now).map(\.certificate))
    #expect(there.addresses.crl == "http://127.0.0.1:9100/iaca.crl")
  }

  @Test func `the list of a certificate that names another address has that certificate's number`() throws {
    let authority = try MockAuthority(seed: [1])
    let list = try #require(MockCRL.named("crl-signer-revoked"))
    let own = try list.published(by: authority, at: now)
    let elsewhere = try list.published(by: authority, at: now, address: "http://127.0.0.1:9100/lists/x")
    #expect(own != elsewhere)
  }
}
