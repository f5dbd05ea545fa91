import Base
import Cryptography
import FoundationEssentials
import Mdoc
import Mock
import Sessions
import Testing

@testable import CorpusMaking
@testable import Vectors

/// Vectors of revocation: the fetched lists, and the responses that a verifier without revocation checks accepts.
@Suite struct RevocationVectorTests {
  private let suite: VectorSuite
  private let vectors: [TestVector]

  init() throws {
    suite = try CommittedCorpus.suite()
    vectors = suite.entries.filter { $0.group == "revocation" }.map(\.vector)
  }

  @Test func `names are unique and summaries are sentences`() {
    let cases = MockRevocationCase.all
    #expect(Set(cases.map(\.name)).count == cases.count && cases.count > 150)
    #expect(cases.filter { $0.summary.last != "." }.map(\.name) == [])
    for made in cases { #expect(made.codes == Code.allCases.filter(made.codes.contains), "\(made.name)") }
  }

  /// An untrusted document causes no fetch.
  @Test func `there are questions exactly where a case says so`() throws {
    let verifier = OwnVerifier(anchors: suite.anchors)
    for vector in vectors {
      let made = try #require(MockRevocationCase.named(vector.id))
      guard let authentication = try verifier.authenticate(vector, vector.input.bytes) else { continue }
      let isAsked = !authentication.questions.isEmpty
      #expect(isAsked == made.isAsked, "\(vector.id)")
    }
  }

  /// Each of these documents is otherwise valid, so that only revocation decides.
  @Test func `what is refused for revocation passes where nothing is asked`() async throws {
    let verifier = OwnVerifier(anchors: suite.anchors)
    let refused = vectors.filter { $0.expectation.codes.first?.hasPrefix("revocation.") == true }
    #expect(refused.count > 100)
    for vector in refused {
      var unasked = vector
      unasked.policy.revocation = .off
      #expect(await verifier.judge(unasked).isAccepted, "\(vector.id)")
    }
  }

  /// Without its publications the list is missing, which never counts as a good status.
  @Test func `a list that nobody publishes is not known`() async throws {
    let verifier = OwnVerifier(anchors: suite.anchors)
    let accepted = vectors.filter {
      $0.expectation.isAccepted && $0.policy.revocation == .requireGood && !$0.publications.isEmpty
    }
    #expect(accepted.count > 15)
    for vector in accepted {
      var unpublished = vector
      unpublished.publications = []
      #expect(await verifier.judge(unpublished).codes == [Code.revocationUnavailable.rawValue], "\(vector.id)")
    }
  }
}

/// Every wrong variant of the mock wallet gives its codes over every web protocol, regardless of the corpus.
@Suite struct WebVariantTests {
  struct Way: Sendable, CustomTestStringConvertible {
    var form: CorpusCase.Form
    var protocolName: String
    var isEncrypted = true
    var usesMAC = false

    init(_ protocolName: String, isEncrypted: Bool = true, usesMAC: Bool = false) {
      form =
        protocolName == VectorSession.annexCName
        ? .annexC : .openID4VP(protocolName: protocolName, isEncrypted: isEncrypted, usesMAC: usesMAC)
      self.protocolName = protocolName
      self.isEncrypted = isEncrypted
      self.usesMAC = usesMAC
    }

    var testDescription: String { protocolName + (isEncrypted ? "" : " in clear") + (usesMAC ? " with MACs" : "") }
  }

  static let ways = [
    Way("org-iso-mdoc"), Way("openid4vp-v1-unsigned"), Way("openid4vp-v1-unsigned", isEncrypted: false),
    Way("openid4vp"), Way("openid4vp", isEncrypted: false), Way("openid4vp-iso-18013-7-annex-b"),
  ]

  private let maker: CorpusMaker
  private let verifier: OwnVerifier
  /// Variants with large responses: making one takes long in a debug build, so each is tried over one protocol.
  private let large: Set<String>

  init() throws {
    maker = try CorpusMaker()
    let suite = try CommittedCorpus.suite()
    verifier = OwnVerifier(anchors: suite.anchors)
    large = Set(suite.entries.map(\.vector).filter { $0.input.count > 1 << 18 }.map(\.id))
  }

  /// With `MDOC_EXHAUSTIVE`, each is tried over every protocol.
  private static let isExhaustive = ProcessInfo.processInfo.environment["MDOC_EXHAUSTIVE"] == "1"

  @Test(arguments: ways.indices) func `every variant has its codes`(_ index: Int) async throws {
    let way = Self.ways[index]
    for (position, variant) in MockVariant.all.enumerated()
    where variant.holds(over: way.protocolName, isEncrypted: way.isEncrypted) {
      if large.contains(variant.name) {
        guard way.form == .annexC else { continue }
      } else if variant.applicability == .anyProtocol, !Self.isExhaustive {
        // A document's fault does not depend on the envelope: one envelope for each fault is enough.
        guard position % Self.ways.count == index else { continue }
      }
      var made = CorpusCase(variant, group: "test", form: way.form)
      if variant.request.documents.count == 1 { made.request = .standard }
      let problem = try await problem(made)
      #expect(problem == nil, "\(variant.name): \(problem ?? "")")
    }
  }

  @Test(
    arguments: [
      Way("openid4vp-v1-signed", usesMAC: true), Way("openid4vp", usesMAC: true),
      Way("openid4vp-iso-18013-7-annex-b", usesMAC: true),
    ])
  func `right and wrong MACs have their codes`(_ way: Way) async throws {
    for variant in MockVariant.all where variant.applicability == .deviceMAC || variant.name == "good" {
      let problem = try await problem(CorpusCase(variant, group: "test", form: way.form))
      #expect(problem == nil, "\(variant.name): \(problem ?? "")")
    }
  }

  /// A right response to one session is refused in every session of a different protocol, origin, client or encryption.
  @Test func `a right answer is none to another protocol's session`() async throws {
    let vectors = try Self.ways.map { way in
      try maker.vector(CorpusCase(.good, group: "test", form: way.form, id: way.testDescription))
    }
    for answer in vectors {
      for var session in vectors where session.id != answer.id {
        session.input = answer.input
        let judgement = await verifier.judge(session)
        #expect(!judgement.isAccepted && judgement.codes?.isEmpty == false, "\(answer.id) to \(session.id)")
      }
    }
  }

  private func problem(_ made: CorpusCase) async throws -> String? {
    var vector = try maker.vector(made)
    vector.trustAnchors = maker.anchors.map(\.name)
    return vector.expectation.problem(with: await verifier.judge(vector))
  }
}
