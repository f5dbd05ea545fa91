import Base
import PKIX
import Testing
import Trust

@testable import Mock

/// A signer that was validated once is remembered, for exactly what it was validated for.
@Suite struct KnownSignerTests {
  let fixture: TrustFixture
  let store: TrustStore
  let chain: [ArraySlice<UInt8>]
  let from: Timestamp
  let until: Timestamp

  init() throws {
    fixture = try TrustFixture()
    store = try TrustStore(anchors: [fixture.root()], allowsTestCertificates: true)
    let from = fixture.now - 10
    let until = fixture.now + 10
    chain = try fixture.chain {
      $0.certificate.notBefore = from
      $0.certificate.notAfter = until
    }
    (self.from, self.until) = (from, until)
  }

  @Test func isEvaluatedAnewOutsideItsWindow() {
    for _ in 0..<2 {
      #expect(store.failures(chain, at: fixture.now) == [])
      #expect(store.failures(chain, at: until) == [])
      #expect(store.failures(chain, at: until + 1) == [.certificateExpired])
      #expect(store.failures(chain, at: from) == [])
      #expect(store.failures(chain, at: from - 1) == [.certificateExpired])
    }
  }

  @Test func isRememberedForItsSkewAlone() {
    #expect(store.failures(chain, at: until + 60, skew: 60) == [])
    #expect(store.failures(chain, at: until + 60, skew: 59) == [.certificateExpired])
    #expect(store.failures(chain, at: until + 1, skew: 0) == [.certificateExpired])
    #expect(store.failures(chain, at: until + 61, skew: 60) == [.certificateExpired])
  }

  @Test func isRememberedForItsDocumentTypeAlone() {
    #expect(store.failures(chain, at: fixture.now) == [])
    for docType in ["", "org.iso.18013.5.1.mDL ", "org.iso.23220.photoid.1", "org.iso.18013.5.1.mdl"] {
      #expect(store.failures(chain, docType: docType, at: fixture.now) == [.issuerNotTrustedForDocType])
    }
  }

  @Test func isNotRememberedWhereItWasRefused() throws {
    let future = try fixture.chain { $0.certificate.notBefore = until + 100 }
    #expect(store.failures(future, at: fixture.now) == [.certificateExpired])
    #expect(store.failures(future, at: until + 100) == [])
  }

  @Test func isKnownByEveryByteOfItsChain() throws {
    #expect(store.failures(chain, at: fixture.now) == [])
    for index in [0, 40, chain[0].count / 2, chain[0].count - 1] {
      var altered = Array(chain[0])
      altered[index] ^= 1
      #expect(!store.failures([altered[...]], at: fixture.now).isEmpty)
    }
    #expect(!store.failures([], at: fixture.now).isEmpty)
    #expect(!store.failures(chain + chain, at: fixture.now).isEmpty)
    // The bytes of two certificates in one are not those of two.
    #expect(!store.failures([chain[0] + chain[0]], at: fixture.now).isEmpty)
  }

  @Test func anotherStoreKnowsNothingOfIt() throws {
    #expect(store.failures(chain, at: fixture.now) == [])
    let live = try TrustStore(anchors: [fixture.root()], allowsTestCertificates: false)
    #expect(live.failures(chain, at: fixture.now) == [.testCertificate])
  }

  @Test func staysRightUnderThreadsAndManySigners() async throws {
    let store = store
    let chain = chain
    let (now, until) = (fixture.now, until)
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          (0..<200).allSatisfy { round in
            let isLate = (task + round) % 3 == 0
            let failures = store.failures(chain, at: isLate ? until + 1 : now, skew: Int64(round % 2 == 0 ? 0 : 1))
            return isLate && round % 2 == 0 ? failures == [.certificateExpired] : failures == []
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}
