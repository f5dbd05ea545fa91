import Base
import CorpusMaking
import Cryptography
import Longfellow
import Mdoc
import Sessions
import Trust

@testable import Mock
@testable import Vectors

/// The material of the targets: the committed corpus, its anchors, its requests, and its mock issuer's keys.
struct Material: Sendable {
  static let suite = "TestVectors"

  let vectors: [TestVector]
  let trust: TrustStore
  /// Nil, which accepts everything that is verified, and every request of the corpus.
  let requests: [PresentationRequest?]
  let resigner: Resigner
  let authority: MockAuthority
  /// The time at which everything is verified.
  let now = CorpusMaker.time

  private let requestTexts: [String]

  init() throws {
    let suite = try VectorSuite(at: Self.suite)
    vectors = suite.entries.map(\.vector)
    let names = Set(vectors.flatMap(\.trustAnchors)).subtracting([CorpusMaker.unscopedAnchor])
    trust = try TrustStore(
      anchors: TrustAnchorLoader(defaultDocTypes: nil).load(
        names.sorted().map { "\(Self.suite)/\(SuiteFolder.anchors)/\($0).pem" }),
      allowsTestCertificates: true)
    let forms = Dictionary(vectors.map { ($0.request.text(), $0.request) }) { first, _ in first }
    requestTexts = forms.keys.sorted()
    let decoder = PresentationRequestDecoder(for: .web, circuits: KnownCircuit.all)
    requests = [nil] + requestTexts.map { try? decoder.decode(forms[$0] ?? .null) }
    authority = try MockAuthority(seed: CorpusMaker.seed)
    resigner = try Resigner(authority: authority, readerKey: Self.readerKey(vectors))
  }

  /// The index of a vector's request in `requests`.
  func requestIndex(of vector: TestVector) -> Int {
    (requestTexts.firstIndex(of: vector.request.text()) ?? -1) + 1
  }

  func verifier(isStrict: Bool, revocation: RevocationPolicy = .off) -> MdocVerifier {
    var verifier = MdocVerifier(trust: trust, isStrict: isStrict, revocation: revocation)
    // Without circuits, everything in a ZkDocument except the proof is verified if nothing specific was requested.
    verifier.proofs = ProofPolicy(circuits: CircuitLibrary([:]))
    return verifier
  }

  var proximityVectors: [(vector: TestVector, session: VectorSession.Proximity)] {
    vectors.compactMap { vector in
      if case .proximity(let session) = vector.session { (vector, session) } else { nil }
    }
  }

  var appleVectors: [(vector: TestVector, session: VectorSession.AppleInApp)] {
    vectors.compactMap { vector in
      if case .appleInApp(let session) = vector.session { (vector, session) } else { nil }
    }
  }

  private static func readerKey(_ vectors: [TestVector]) throws -> PrivateKey {
    for vector in vectors {
      guard case .proximity(let session) = vector.session, let scalar = session.readerKey else { continue }
      return try PrivateKey(curve: .p256, scalar: scalar)
    }
    throw MaterialError.missing("a reader key")
  }
}

enum MaterialError: Error {
  case missing(String)
}
