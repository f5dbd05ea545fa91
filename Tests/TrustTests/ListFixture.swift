import Base
import Cryptography
import PKIX
import Trust

@testable import Mock

/// The mock authority, its lists, and a source that trusts their signer.
struct ListFixture {
  let now = Timestamp(secondsSince1970: 1_795_000_000)
  let authority: MockAuthority

  init(curve: Curve = .p256) throws {
    authority = try MockAuthority(seed: Array("list tests".utf8), issuerCurve: curve)
  }

  func source() throws -> TrustedEntityListSource {
    let root = try Certificate(der: MockTrustedEntityList.signerRoot(of: authority, at: now))
    return TrustedEntityListSource(
      signers: .init(authorities: [root], allowsTestCertificates: true),
      issuance: [MockTrustedEntityList.issuanceService: MockTrustedEntityList.docTypes],
      revocation: [MockTrustedEntityList.revocationService], tier: .test, name: "mock list")
  }

  func evaluate(
    _ variant: MockTrustedEntityList, source: TrustedEntityListSource? = nil, at now: Timestamp? = nil,
    after last: TrustedEntityListEvaluation.LastAccepted? = nil
  ) throws -> TrustedEntityListEvaluation {
    let now = now ?? self.now
    let bytes = try variant.published(by: authority, at: now)
    return TrustedEntityListReader(source: try source ?? self.source()).evaluate(bytes, at: now, after: last)
  }

  func chain(_ change: (inout DocumentSigner) -> Void = { _ in }) throws -> [ArraySlice<UInt8>] {
    var signer = try DocumentSigner(
      authority: authority, under: authority.certificateIssuer(.good), curve: authority.issuerCurve, at: now)
    change(&signer)
    return try signer.chain().map { $0[...] }
  }
}

extension TrustedEntityListEvaluation {
  func codes(_ outcome: Check.Outcome) -> [Code] { checks.filter { $0.outcome == outcome }.map(\.code) }
}
