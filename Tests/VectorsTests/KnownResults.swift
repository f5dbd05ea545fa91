import Base
import Testing

@testable import Vectors

/// The committed corpus with our verifier's word on it, made once for all properties.
struct KnownResults: Sendable {
  let suite: VectorSuite
  let verifier: OwnVerifier
  /// What the corpus knows as right, by what was asked: a request, or a list of one format.
  private let accepted: [JSON: Set<[UInt8]>]

  private static let shared = Task { try await KnownResults() }

  static func get() async throws -> KnownResults { try await shared.value }

  private init() async throws {
    suite = try CommittedCorpus.suite()
    verifier = OwnVerifier(anchors: suite.anchors)
    var accepted: [JSON: Set<[UInt8]>] = [:]
    for vector in suite.entries.map(\.vector) where vector.expectation.isAccepted {
      guard let hash = await verifier.judge(vector).resultHash else { continue }
      accepted[Self.asked(vector), default: []].insert(hash)
    }
    self.accepted = accepted
  }

  private static func asked(_ vector: TestVector) -> JSON {
    if case .list(let list) = vector.session { .string(list.format.rawValue) } else { vector.request }
  }

  /// Whether a relying party that made the vector's request is to see this result.
  func isRight(_ judgement: Judgement, for vector: TestVector) -> Bool {
    judgement.resultHash.map { accepted[Self.asked(vector)]?.contains($0) == true } ?? false
  }
}
