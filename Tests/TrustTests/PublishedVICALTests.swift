import Base
import PKIX
import TestSupport
import Testing
import Trust

/// The lists that AAMVA's digital trust service has published.
@Suite(.enabled(if: PublishedVectors.areHere)) struct PublishedVICALTests {
  struct Published: Sendable, CustomTestStringConvertible {
    let file: String
    let issued: String
    let number: UInt64
    let count: Int
    var testDescription: String { file }
  }

  static let lists = [
    Published(file: "aamva-vical-2024-09-24.cbor", issued: "2024-09-24T17:37:31Z", number: 616_575, count: 3),
    Published(
      file: "aamva-vical-2025-11-18-1763491092481.cbor", issued: "2025-11-18T18:38:12Z", number: 227_602, count: 14),
  ]

  @Test(arguments: lists, ["aamva-dts-root.pem", "aamva_ca_root.crt", "aamva_ca_intermediate.crt"])
  func `A published list verifies in its time, under the root and under the intermediate`(
    list: Published, anchor: String
  ) throws {
    let issued = try #require(Timestamp(rfc3339: list.issued))
    let evaluation = try reader(anchor).evaluate(bytes(list), at: issued)
    #expect(evaluation.checks.codes(.failed).isEmpty && evaluation.isAccepted)
    #expect(evaluation.checks.codes(.warning) == [.listDeviation])
    #expect(evaluation.anchors.count == list.count)
    #expect(evaluation.anchors.allSatisfy { $0.docTypes == ["org.iso.18013.5.1.mDL"] })
    #expect(evaluation.list?.contents.provider == "AAMVA" && evaluation.list?.contents.issueID == list.number)
    #expect(evaluation.list?.contents.date == issued && evaluation.validUntil == issued + 86_400)
    #expect(evaluation.signerPath.count == (anchor == "aamva_ca_intermediate.crt" ? 2 : 3))
  }

  @Test func `What deviates is said once`() throws {
    let evaluation = try reader().evaluate(bytes(Self.lists[1]), at: Self.lists[1].time)
    let detail = try #require(evaluation.checks.first { $0.code == .listDeviation }?.detail)
    #expect(
      detail.split(separator: "; ").sorted() == [
        "entries have \"CertificateProfile\" for \"certificateProfile\"",
        "entries have \"Extensions\" for \"extensions\"", "ski is wrapped in OCTET STRING",
        "times are on a twelve-hour clock", "x5chain carries a root",
      ])
  }

  @Test(arguments: lists)
  func `A published list is expired one second after its next update`(list: Published) throws {
    let end = list.time + 86_400
    #expect(try reader().evaluate(bytes(list), at: end).isAccepted)
    #expect(try reader().evaluate(bytes(list), at: end + 1).checks.codes(.failed) == [.listExpired])
  }

  @Test(arguments: lists)
  func `From the end of the signer's certificate on, nothing of the list counts`(list: Published) throws {
    let end = try #require(Timestamp(rfc3339: "2026-04-18T17:38:41Z"))
    #expect(try reader().evaluate(bytes(list), at: end).checks.codes(.failed) == [.listExpired])
    #expect(try reader().evaluate(bytes(list), at: end + 1).checks.codes(.failed) == [.listSignerUntrusted])
  }

  @Test func `The later list is newer than the earlier, though its number is lower`() throws {
    let earlier = try #require(try reader().evaluate(bytes(Self.lists[0]), at: Self.lists[0].time).accepted)
    let later = try reader().evaluate(bytes(Self.lists[1]), at: Self.lists[1].time, after: earlier)
    #expect(later.isAccepted)
    let back = try reader().evaluate(bytes(Self.lists[0]), at: Self.lists[0].time, after: later.accepted)
    #expect(back.checks.codes(.failed) == [.listRollback])
  }

  @Test(arguments: lists)
  func `A changed payload and a changed signature are told apart from an unknown signer`(list: Published) throws {
    var payload = try bytes(list)
    payload[payload.count - 200] ^= 0x01
    #expect(try reader().evaluate(payload, at: list.time).checks.codes(.failed) == [.listSignatureInvalid])
    var signature = try bytes(list)
    signature[signature.count - 1] ^= 0x01
    #expect(try reader().evaluate(signature, at: list.time).checks.codes(.failed) == [.listSignatureInvalid])
    let stranger = VICALVerifier(
      source: TrustListSource(signers: .init(authorities: [], allowsTestCertificates: false)))
    #expect(try stranger.evaluate(bytes(list), at: list.time).checks.codes(.failed) == [.listSignerUntrusted])
  }

  // MARK: Support

  private func bytes(_ list: Published) throws -> [UInt8] { try PublishedVectors.bytes("vical/\(list.file)") }

  private func reader(_ anchor: String = "aamva-dts-root.pem") throws -> VICALVerifier {
    let text = String(decoding: try PublishedVectors.bytes("vical/\(anchor)"), as: UTF8.self)
    let certificates = try #require(PEM.certificates(in: text)).map { try Certificate(der: $0) }
    return VICALVerifier(
      source: TrustListSource(signers: .init(authorities: certificates, allowsTestCertificates: false)))
  }
}

extension PublishedVICALTests.Published {
  fileprivate var time: Timestamp { Timestamp(rfc3339: issued) ?? Timestamp(secondsSince1970: 0) }
}
