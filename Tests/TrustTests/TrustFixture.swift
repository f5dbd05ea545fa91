import Base
import Cryptography
import FoundationEssentials
import PKIX
import Trust

@testable import Mock

/// The mock authority's root and signer, and a folder of anchors, removed with the fixture.
final class TrustFixture {
  static let mDL = "org.iso.18013.5.1.mDL"

  let now = Timestamp(secondsSince1970: 1_795_000_000)
  let authority: MockAuthority
  let folder: String

  init() throws {
    authority = try MockAuthority(seed: Array("trust tests".utf8))
    folder = FileManager.default.temporaryDirectory.path + "/mdoc.trust-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: folder) }

  func rootDER(_ kind: AnchorKind = .good) throws -> [UInt8] {
    try authority.anchorTemplate(kind, at: now).signed(by: authority.certificateIssuer(kind).key)
  }

  func root(_ kind: AnchorKind = .good, docTypes: [String]? = [mDL]) throws -> TrustAnchor {
    TrustAnchor(certificate: try Certificate(der: rootDER(kind)), docTypes: docTypes)
  }

  func chain(_ change: (inout MockSigner) -> Void = { _ in }) throws -> [ArraySlice<UInt8>] {
    var signer = try MockSigner(
      authority: authority, under: authority.certificateIssuer(.good), curve: .p256, at: now)
    change(&signer)
    return try signer.chain().map { $0[...] }
  }

  func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(filePath: "\(folder)/\(name)"))
  }
}

extension TrustStore {
  func failures(
    _ chain: [ArraySlice<UInt8>], docType: String = TrustFixture.mDL, at now: Timestamp, skew: Int64 = 0
  ) -> [Code] {
    evaluate(chain: chain, docType: docType, at: now, skew: skew).checks.filter { $0.outcome == .failed }.map(\.code)
  }
}

/// The mock authority, its lists, and a source that trusts their signer.
struct ListFixture {
  let now = Timestamp(secondsSince1970: 1_795_000_000)
  let authority: MockAuthority

  init(curve: Curve = .p256) throws {
    authority = try MockAuthority(seed: Array("list tests".utf8), issuerCurve: curve)
  }

  func source() throws -> TrustedEntityListSource {
    let root = try Certificate(der: MockList.Kind.trustedEntities.signerAnchor(of: authority, at: now))
    return TrustedEntityListSource(
      TrustListSource(
        signers: .init(authorities: [root], allowsTestCertificates: true), tier: .test, name: "mock list"),
      issuance: [MockList.issuanceService: MockList.docTypes], revocation: [MockList.revocationService])
  }

  func evaluate(
    _ variant: MockList, source: TrustedEntityListSource? = nil, at now: Timestamp? = nil,
    after last: AcceptedListMark? = nil
  ) throws -> TrustListEvaluation<TrustedEntityList> {
    let now = now ?? self.now
    let bytes = try variant.published(by: authority, now: now)
    return TrustedEntityListVerifier(source: try source ?? self.source()).evaluate(bytes, at: now, after: last)
  }

  func chain(_ change: (inout MockSigner) -> Void = { _ in }) throws -> [ArraySlice<UInt8>] {
    var signer = try MockSigner(
      authority: authority, under: authority.certificateIssuer(.good), curve: authority.issuerCurve, at: now)
    change(&signer)
    return try signer.chain().map { $0[...] }
  }
}

extension TrustListEvaluation<TrustedEntityList> {
  func codes(_ outcome: Check.Outcome) -> [Code] { checks.filter { $0.outcome == outcome }.map(\.code) }
}
