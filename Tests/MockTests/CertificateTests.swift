import Base
import Cryptography
import Mock
import Testing

@testable import Mock

@Suite struct CertificateTests {
  @Test(arguments: Curve.allCases.filter { $0.family != .montgomery })
  func anchorsAreDERWithTheMarker(_ curve: Curve) throws {
    let fixture = try Fixture(issuerCurve: curve)
    let marker: [UInt8] = [0x06, 0x0c, 0x2b, 0x06, 0x01, 0x04, 0x01, 0x86, 0x8d, 0x1f, 0x81, 0x8c, 0x5d, 0x01]
    for anchor in try fixture.authority.anchors(at: fixture.now) {
      let certificate = try #require(TLV(anchor.certificate))
      #expect(certificate.end == anchor.certificate.count)
      #expect(certificate.tag == 0x30 && certificate.children.map(\.tag) == [0x30, 0x30, 0x03])
      let tags = certificate.children.first?.children.map(\.tag)
      #expect(tags == [0xa0, 0x02, 0x30, 0x30, 0x30, 0x30, 0x30, 0xa3])
      let serial = certificate.children[0].children[1].content
      let first = try #require(serial.first)
      #expect(serial.count == 20 && (0x40..<0x80).contains(first))
      #expect(anchor.certificate.indices.contains { anchor.certificate[$0...].starts(with: marker) })
    }
  }

  @Test func anchorsStayTheSameForYears() throws {
    let fixture = try Fixture()
    let early = try fixture.authority.anchors(at: try #require(Timestamp(rfc3339: "2021-01-01T00:00:00Z")))
    let late = try fixture.authority.anchors(at: try #require(Timestamp(rfc3339: "2029-12-31T00:00:00Z")))
    #expect(early.map(\.certificate) == late.map(\.certificate))
    #expect(
      early.map(\.name) == [
        "iaca", "iaca-not-ca", "iaca-expired", "iaca-not-yet-valid", "iaca-broken-self-signature", "iaca-path-length-1",
        "iaca-name-constrained", "iaca-other-doc-type",
      ])
    #expect(early.map(\.maxPathLength) == [0, 0, 0, 0, 0, 1, 0, 0])
  }

  @Test func keysThatCannotSignAreRefused() {
    #expect(throws: MockError.curveCannotSign("X25519")) {
      try MockAuthority(seed: [1], issuerCurve: .x25519)
    }
  }
}

/// Just enough of a DER reader to see the shape.
private struct TLV {
  let tag: UInt8
  let content: ArraySlice<UInt8>
  var end: Int { content.endIndex }

  init?(_ bytes: some Collection<UInt8>) { self.init(Array(bytes)[...]) }

  private init?(_ bytes: ArraySlice<UInt8>) {
    guard bytes.count >= 2 else { return nil }
    var position = bytes.startIndex + 1
    var length = Int(bytes[position])
    position += 1
    if length >= 0x80 {
      let count = length & 0x7f
      guard bytes.endIndex - position >= count else { return nil }
      length = bytes[position..<(position + count)].reduce(0) { $0 << 8 | Int($1) }
      position += count
    }
    guard bytes.endIndex - position >= length else { return nil }
    tag = bytes[bytes.startIndex]
    content = bytes[position..<(position + length)]
  }

  var children: [TLV] {
    var children: [TLV] = []
    var rest = content
    while let child = TLV(rest) {
      children.append(child)
      rest = rest[child.end...]
    }
    return children
  }
}

/// The mock publisher's files, and the documents that name it.
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
    let list = try #require(MockList.named("crl-signer-revoked"))
    let own = try list.published(by: authority, now: now)
    let elsewhere = try list.published(by: authority, at: "http://127.0.0.1:9100/lists/x", now: now)
    #expect(own != elsewhere)
  }
}
