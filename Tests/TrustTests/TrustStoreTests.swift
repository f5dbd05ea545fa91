import Base
import PKIX
import Testing
import Trust

@testable import Mock

/// The snapshot identifies all data that determine trust: it changes only with them.
@Suite struct SnapshotTests {
  let fixture: TrustFixture

  init() throws { fixture = try TrustFixture() }

  static let changes: [(String, @Sendable (inout TrustAnchor) -> Void)] = [
    ("no types", { $0.docTypes = nil }), ("no type allowed", { $0.docTypes = [] }),
    ("any by name", { $0.docTypes = ["*"] }),
    ("joined types", { $0.docTypes = ["a,b"] }), ("two types", { $0.docTypes = ["a", "b"] }),
    ("shifted border", { $0.docTypes = ["ab"] }), ("a bar", { $0.docTypes = ["a|b"] }),
    ("composed", { $0.docTypes = ["caf\u{e9}"] }), ("decomposed", { $0.docTypes = ["cafe\u{301}"] }),
    ("usages", { $0.extendedKeyUsages = ["1.2.3"] }), ("no usages", { $0.extendedKeyUsages = [] }),
    ("one usage", { $0.extendedKeyUsages = [TrustAnchor.documentSignerUsage] }),
    ("lists over HTTPS", { $0.crlAddresses = .https }), ("tokens", { $0.allowsJWTStatusLists = true }),
    ("kind", { $0.kind = .documentSigner }), ("length", { $0.maxPathLength = 1 }),
    ("relaxed", { $0.relaxed = [.certificateKeyUsage] }),
    ("relaxed otherwise", { $0.relaxed = [.anchorExpired] }),
  ]

  @Test func changesWithEverythingThatDecides() throws {
    var snapshots = [try snapshot([fixture.root()])]
    for (_, change) in Self.changes {
      var anchor = try fixture.root()
      change(&anchor)
      snapshots.append(try snapshot([anchor]))
    }
    snapshots.append(try snapshot([fixture.root(.notCA)]))
    snapshots.append(try snapshot([fixture.root(), fixture.root(.notCA)]))
    snapshots.append(try TrustStore(anchors: [fixture.root()], allowsTestCertificates: false).snapshot)
    #expect(Set(snapshots).count == snapshots.count)
  }

  @Test func staysWithNamesOrderAndRepetition() throws {
    let (first, second) = (try fixture.root(docTypes: ["a", "b"]), try fixture.root(.notCA))
    let expected = try snapshot([first, second])
    var renamed = first
    renamed.source = "elsewhere.pem"
    renamed.docTypes = ["b", "a", "b"]
    #expect(try snapshot([second, renamed]) == expected)
    #expect(try snapshot([first, second, first]) == expected)
    let ignored = TrustAnchor(certificate: first.certificate, tier: .test)
    let live = try TrustStore(anchors: [second], allowsTestCertificates: false).snapshot
    #expect(try TrustStore(anchors: [second, ignored], allowsTestCertificates: false).snapshot == live)
  }

  /// One key with two sets of settings: the order of the files must not decide which of them applies.
  @Test func theOrderOfAnchorsDecidesNothing() throws {
    var strict = try fixture.root()
    strict.extendedKeyUsages = ["1.2.3"]
    let (chain, anchors) = (try fixture.chain(), [strict, try fixture.root()])
    let results = try [anchors, anchors.reversed()].map {
      try TrustStore(anchors: $0, allowsTestCertificates: true).failures(chain, at: fixture.now)
    }
    #expect(results[0] == results[1])
  }

  @Test func oneKeyMayBeAnchoredForEachOfSeveralTypes() throws {
    let anchors = [try fixture.root(docTypes: ["org.example.other"]), try fixture.root()]
    for anchors in [anchors, anchors.reversed()] {
      let store = try TrustStore(anchors: anchors, allowsTestCertificates: true)
      let chain = try fixture.chain()
      #expect(store.failures(chain, at: fixture.now) == [])
      #expect(store.failures(chain, docType: "org.example.other", at: fixture.now) == [])
      #expect(store.failures(chain, docType: "org.example.third", at: fixture.now) == [.issuerNotTrustedForDocType])
    }
  }

  @Test func aStoreWithoutAnchorsDoesNotStart() throws {
    #expect(throws: TrustStoreError.empty) { try TrustStore(anchors: [], allowsTestCertificates: true) }
    let test = TrustAnchor(certificate: try fixture.root().certificate, tier: .test)
    #expect(throws: TrustStoreError.empty) { try TrustStore(anchors: [test], allowsTestCertificates: false) }
    #expect(try TrustStore(anchors: [test], allowsTestCertificates: true).anchors.count == 1)
  }

  /// As in staging: a sandbox is trusted, but nothing whose private key is public.
  @Test func anAnchorOfTheTestTierMayBeTrustedWithoutTestCertificates() throws {
    var root = try fixture.authority.anchorTemplate(.good, at: fixture.now)
    root[oid: MockCertificateMarker.oid] = nil
    let certificate = try Certificate(der: root.signed(by: fixture.authority.certificateIssuer(.good).key))
    let sandbox = TrustAnchor(certificate: certificate, docTypes: [TrustFixture.mDL], tier: .test)
    let marked = try fixture.chain()
    let unmarked = try fixture.chain { $0.certificate[oid: MockCertificateMarker.oid] = nil }
    let staging = try TrustStore(anchors: [sandbox], allowsTestCertificates: false, allowsTestTier: true)
    #expect(staging.failures(unmarked, at: fixture.now) == [])
    #expect(staging.failures(marked, at: fixture.now) == [.testCertificate])
    let mock = TrustAnchor(certificate: try fixture.root().certificate, docTypes: [TrustFixture.mDL], tier: .test)
    let misled = try TrustStore(anchors: [mock], allowsTestCertificates: false, allowsTestTier: true)
    #expect(misled.failures(unmarked, at: fixture.now) == [.testCertificate])
    // The kept part in evidence is read by the same rules, not by laxer rules.
    let kept = try TrustExcerpt(of: staging, anchors: [certificate.fingerprint]).json
    #expect(TrustExcerpt(kept, allowsTestCertificates: false, allowsTestTier: true)?.snapshot == staging.snapshot)
    #expect(TrustExcerpt(kept, allowsTestCertificates: false) == nil)
  }

  private func snapshot(_ anchors: [TrustAnchor]) throws -> String {
    try TrustStore(anchors: anchors, allowsTestCertificates: true).snapshot
  }
}

/// A validated signer is remembered, for exactly the document type that it was validated for.
@Suite struct SignerCacheTests {
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
    // Two certificates joined into one are not two certificates.
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
