import Base
import CBOR
import Mdoc
import PKIX
import Presentation
import Testing
import Trust

@testable import Mock

/// A document's country and state must match its signer's (ISO/IEC 18013-5, 7.2.1).
@Suite struct JurisdictionTests {
  private let attack: Attack
  private let code = Code.issuerJurisdictionMismatch

  init() throws { attack = try Attack() }

  private func verify(_ mutation: MockMutation, relaxed: Set<Code> = []) throws -> Verdict {
    let anchor = TrustAnchor(
      certificate: try Certificate(der: attack.authority.anchor(at: attack.now).certificate),
      docTypes: [DocType.mDL], relaxed: relaxed)
    let trust = try TrustStore(anchors: [anchor], allowsTestCertificates: true)
    return try Proximity(verifier: MdocVerifier(trust: trust))
      .authenticate(
        attack.response(mutation), transcript: attack.transcript, readerKey: nil, request: Attack.request,
        at: attack.now
      ).conclude()
  }

  /// A document of another country than its signer's.
  private static let foreign: MockChange<DocumentSetup> = {
    $0.data[$0.mainNamespace, "issuing_country"] = "CA"
    $0.added.append(($0.mainNamespace, "issuing_country"))
  }

  private func outcome(_ verdict: Verdict) -> Check.Outcome? {
    verdict.report.documents.first?.checks.first { $0.code == code }?.outcome
  }

  @Test func `another country is refused, and warned of where the anchor's settings allow it`() throws {
    let mutation = MockMutation(Stages.setup, Self.foreign)
    let refused = try verify(mutation)
    #expect(refused.report.reasons.map(\.code) == [code] && outcome(refused) == .failed)
    let relaxed = try verify(mutation, relaxed: [code])
    #expect(relaxed.accepted != nil && outcome(relaxed) == .warning)
  }

  /// The country in unsigned data is ignored.
  @Test func `elements that do not match their digests are not compared`() throws {
    let verdict = try verify(
      MockMutation(Stages.setup, Self.foreign)
        + MockMutation(Stages.disclosure) { draft in
          try draft.changeTarget { $0.fields["elementValue"] = "another" }
        })
    #expect(verdict.report.reasons.map(\.code) == [.digestMismatch] && outcome(verdict) == .notRun)
  }
}
