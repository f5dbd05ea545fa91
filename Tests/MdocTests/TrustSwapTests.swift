import Base
import FoundationEssentials
import Mdoc
import PKIX
import Presentation
import Testing
import Trust

@testable import Mock

/// The trust store is replaced during verifications: each verdict uses one store, and names it.
@Suite(.timeLimit(.minutes(10))) struct TrustSwapTests {
  /// 10 000 for an exhaustive run, in a release build.
  private static let rounds = ProcessInfo.processInfo.environment["MDOC_EXHAUSTIVE"] == "1" ? 2_500 : 250

  @Test func `verifications while the store is swapped come out by the snapshot that they name`() async throws {
    let attack = try Attack()
    let response = try attack.response(.none)
    let with = attack.trust
    // A store that does not know the issuer.
    let other = try MockAuthority(seed: Array("other".utf8)).anchor(at: attack.now)
    let without = try TrustStore(
      anchors: [TrustAnchor(certificate: Certificate(der: other.certificate))], allowsTestCertificates: true)
    let trust = CurrentTrust(with)

    let swapping = Task {
      var swaps = 0
      while !Task.isCancelled {
        trust.replace(by: swaps.isMultiple(of: 2) ? without : with)
        swaps += 1
        try? await Task.sleep(for: .milliseconds(100))
      }
      return swaps
    }
    let counts = try await withThrowingTaskGroup(of: (accepted: Int, refused: Int).self) { group in
      for _ in 0..<4 {
        group.addTask {
          var counts = (accepted: 0, refused: 0)
          // Until it has met both stores, regardless of its speed.
          while counts.accepted + counts.refused < Self.rounds || counts.accepted == 0 || counts.refused == 0 {
            let verifier = MdocVerifier(trust: trust.current)
            let verdict = Proximity(verifier: verifier).authenticate(
              response, transcript: attack.transcript, readerKey: nil, request: Attack.request, at: attack.now
            ).conclude()
            let isAccepted = verdict.accepted != nil
            #expect(verdict.report.trustSnapshot == (isAccepted ? with.snapshot : without.snapshot))
            #expect(isAccepted || verdict.report.reasons.map(\.code) == [.issuerUnknown])
            if isAccepted { counts.accepted += 1 } else { counts.refused += 1 }
            if (counts.accepted + counts.refused).isMultiple(of: 50) { await Task.yield() }
          }
          return counts
        }
      }
      return try await group.reduce(into: (accepted: 0, refused: 0)) {
        $0.accepted += $1.accepted
        $0.refused += $1.refused
      }
    }
    swapping.cancel()
    #expect(await swapping.value > 0)
    print("\(counts.accepted) accepted and \(counts.refused) refused while the trust store was swapped")
  }
}
