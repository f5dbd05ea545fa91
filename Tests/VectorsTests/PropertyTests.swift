import Base
import FoundationEssentials
import TestSupport
import Testing

@testable import Vectors

/// Properties of every vector under truncation and flipped bits.
///
/// By default a sample. `MDOC_EXHAUSTIVE=1`, meant for a release build, truncates every input up to 64 KiB at every
/// byte and flips 2,000 bits of each. Larger inputs are truncated to every length below 4 KiB, the last 256 lengths,
/// and 256 in between. Encrypted responses of the web cost key agreements each time and fail as a whole: they are
/// truncated at 256 places, and 200 bits are flipped; `OpenID4VPPropertyTests` truncate one at every byte.
/// `MDOC_EXHAUSTIVE_PART=0`…`31` does this for one part of the vectors, and samples the others.
@Suite struct PropertyTests {
  /// Each part has every thirty-second vector, so that the cores share the work. All parts yield after each vector,
  /// since other suites run on the same few threads.
  static let parts = Array(0..<32)
  private static let environment = ProcessInfo.processInfo.environment
  private static let large = 1 << 16

  private let known: KnownResults

  init() async throws { known = try await KnownResults.get() }

  private static func isExhaustive(_ part: Int) -> Bool {
    environment["MDOC_EXHAUSTIVE"] == "1" || environment["MDOC_EXHAUSTIVE_PART"] == "\(part)"
  }

  private func vectors(of part: Int) -> [TestVector] {
    known.suite.entries.enumerated().filter { $0.offset % Self.parts.count == part }.map(\.element.vector)
  }

  /// A response with trailing bytes may lose them. It is then the correct response that it was made from.
  @Test(arguments: parts) func `a truncated answer is never accepted`(part: Int) async {
    let isExhaustive = Self.isExhaustive(part)
    var count = 0
    for vector in vectors(of: part) {
      await Task.yield()
      let bytes = vector.input.bytes
      for length in Self.lengths(bytes.count, of: vector, isExhaustive) {
        let judgement = await known.verifier.judge(vector, input: Array(bytes[..<length]))
        count += 1
        guard judgement.isAccepted else {
          #expect(judgement.codes?.isEmpty == false && judgement.resultHash == nil)
          continue
        }
        #expect(
          !vector.expectation.isAccepted && known.isRight(judgement, for: vector), "\(vector.id) cut to \(length) bytes"
        )
      }
    }
    #expect(count > 100)
    if isExhaustive { print("part \(part): \(count) truncations in vectors") }
  }

  /// A flipped bit may correct the fault; the result must then be one of the corpus's correct results.
  @Test(arguments: parts) func `a flipped bit never yields another accepted result`(part: Int) async {
    var generator = SeededGenerator(seed: 18_013_005 + UInt64(part))
    let isExhaustive = Self.isExhaustive(part)
    var count = 0
    for vector in vectors(of: part) {
      await Task.yield()
      var bytes = vector.input.bytes
      for bit in Self.bits(bytes.count, of: vector, isExhaustive, using: &generator) {
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        let judgement = await known.verifier.judge(vector, input: bytes)
        bytes[bit / 8] ^= 1 << UInt8(bit % 8)
        count += 1
        if judgement.isAccepted {
          #expect(known.isRight(judgement, for: vector), "\(vector.id) bit \(bit)")
        } else {
          #expect(judgement.codes?.isEmpty == false && judgement.resultHash == nil)
        }
      }
    }
    if isExhaustive { print("part \(part): \(count) flipped bits in vectors") }
  }

  // MARK: Amounts

  /// By default every sixteenth byte and the last 8 bytes; for large responses only every sixteenth.
  private static func lengths(_ count: Int, of vector: TestVector, _ isExhaustive: Bool) -> [Int] {
    guard isExhaustive else {
      let sixteenths = (0..<16).map { count * $0 / 16 }
      return Set(sixteenths + (count < large ? Array(max(0, count - 8)..<count) : [count - 1])).sorted()
    }
    if vector.session.isOfTheWeb { return Set((0..<256).map { count * $0 / 256 }).sorted() }
    if count < large { return Array(0..<count) }
    let between = (0..<256).map { count / 256 * $0 }
    return Set(Array(0..<4_096) + between + Array((count - 256)..<count)).sorted()
  }

  /// All bits, if there are no more than the number to draw.
  private static func bits(
    _ count: Int, of vector: TestVector, _ isExhaustive: Bool, using generator: inout SeededGenerator
  ) -> [Int] {
    let all = 0..<count * 8
    let wanted = isExhaustive ? (vector.session.isOfTheWeb ? 200 : 2_000) : (count < large ? 8 : 1)
    return all.count <= wanted ? Array(all) : (0..<wanted).map { _ in Int.random(in: all, using: &generator) }
  }
}

extension VectorSession {
  fileprivate var isOfTheWeb: Bool {
    switch self {
    case .annexC, .openID4VP: true
    case .appleInApp, .proximity, .list: false
    }
  }
}
