import Base
import Mock
import Testing

@testable import PKIX

/// The mock authority's readers, read by the verifier.
@Suite struct MockReaderTests {
  private let now = Timestamp(secondsSince1970: 1_795_168_800)

  private func reader(_ name: String = "shop.example", seed: UInt8 = 7) throws -> MockReader {
    try MockAuthority(seed: [seed], issuerCurve: .brainpoolP384r1).reader(dnsName: name, at: now)
  }

  @Test func `a mock reader's certificate keeps every rule of its profile`() throws {
    let reader = try reader()
    let leaf = try Certificate(der: reader.certificates[0])
    let root = try Certificate(der: reader.root)
    #expect(reader.certificates.count == 1 && leaf.publicKey == reader.key.publicKey)
    #expect(leaf.dnsNames == ["shop.example"] && Certificate.isChain([leaf, root]))
    let checks = CertificateProfile.check(leaf, as: .readerAuthentication, issuer: root, at: now)
    #expect(checks.allSatisfy { $0.outcome == .passed || $0.outcome == .notRun }, "\(checks)")
  }

  @Test func `the same seed, name and month give the same reader, others another`() throws {
    let first = try reader()
    let again = try reader()
    #expect(first.certificates == again.certificates && first.root == again.root)
    #expect(try reader("other.example").key.publicKey != first.key.publicKey)
    #expect(try reader(seed: 8).root != first.root)
  }
}
