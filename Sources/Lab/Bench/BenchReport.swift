import Base
import Mdoc
import Mock
import Presentation
import Trust
import Vectors

/// One run of `mdoc bench`. It compares full verifications of Apple in-app responses with their cryptographic
/// primitives.
package struct BenchReport {
  let cases: [ResponseFigures]

  /// - Parameter progress: called after each step with the number of finished steps and the total.
  package init(rounds: Int, progress: @Sendable (_ done: Int, _ total: Int) -> Void) async throws {
    var cases: [ResponseFigures] = []
    let sizes = MeasuredResponse.sizes
    for (index, size) in sizes.enumerated() {
      cases.append(
        try await ResponseFigures(size.name, portraitBytes: size.portraitBytes, rounds: rounds) { step in
          progress(index * ResponseFigures.steps + step, sizes.count * ResponseFigures.steps)
        })
    }
    self.cases = cases
  }

  // MARK: Text

  package var text: String { cases.map(text).joined(separator: "\n\n") }

  private func text(_ figures: ResponseFigures) -> String {
    var lines = ["\(figures.name) (\(figures.responseBytes) bytes)"]
    lines.append(row("", ["µs", "floor", "ratio"]))
    for (label, comparison) in [("known signer", figures.known), ("unknown signer", figures.unknown)] {
      lines.append(
        row(
          label,
          [decimal(comparison.verification, 1), decimal(comparison.floor, 1), decimal(comparison.ratio, 3)]))
    }
    lines.append(row("cached revocation adds", [decimal(max(0, figures.cachedRevocation), 1)]))
    for (threads, rate) in figures.perSecond {
      lines.append(row("a second, \(threads) thread\(threads == 1 ? "" : "s")", [decimal(rate, 0)]))
    }
    lines.append("  parts, measured separately:")
    for stage in figures.stages { lines.append(row("  " + stage.name, [decimal(stage.microseconds, 1)])) }
    return lines.joined(separator: "\n")
  }

  private func row(_ label: String, _ columns: [String]) -> String {
    let padding = String(repeating: " ", count: max(1, 26 - label.count))
    return "  " + label + padding
      + columns.map { String(repeating: " ", count: max(0, 9 - $0.count)) + $0 }.joined()
  }

  // MARK: JSON

  package var json: JSON {
    [
      "cases": .array(
        cases.map { figures in
          [
            "name": .string(figures.name), "answer_bytes": .integer(Int64(figures.responseBytes)),
            "known_signer": json(figures.known), "unknown_signer": json(figures.unknown),
            "cached_revocation_nanoseconds": .integer(Int64(figures.cachedRevocation * 1_000)),
            "verifications_per_second": .array(
              figures.perSecond.map {
                ["threads": .integer(Int64($0.threads)), "rate": .integer(Int64($0.rate))]
              }),
            "stages": .array(
              figures.stages.map {
                ["name": .string($0.name), "nanoseconds": .integer(Int64($0.microseconds * 1_000))]
              }),
          ]
        })
    ]
  }

  private func json(_ comparison: ResponseFigures.Comparison) -> JSON {
    [
      "nanoseconds": .integer(Int64(comparison.verification * 1_000)),
      "floor_nanoseconds": .integer(Int64(comparison.floor * 1_000)),
      "ratio_to_floor": .double((comparison.ratio * 1_000).rounded() / 1_000),
    ]
  }
}

/// The figures of one response. The response's verifications and their primitives are measured alternately in the same
/// run.
struct ResponseFigures {
  let name: String
  let responseBytes: Int
  let known, unknown: Comparison
  /// The microseconds that revocation checking adds per verification. The signer is known, and both lists are in
  /// memory.
  let cachedRevocation: Double
  let stages: [(name: String, microseconds: Double)]
  /// Verifications per second of wall time, by one thread and by two.
  let perSecond: [(threads: Int, rate: Double)]

  /// Medians in microseconds of processor time. `ratio` is the median of the per-pair ratios.
  struct Comparison {
    let verification, floor, ratio: Double
  }

  /// The number of verifications in one measurement. It is large enough for the clock's precision, and small enough for
  /// a constant load on the machine.
  private static let perRound = 200

  static let steps = 6

  init(_ name: String, portraitBytes: Int, rounds: Int, isDone: @Sendable (_ step: Int) -> Void) async throws {
    let response = try MeasuredResponse(portraitBytes: portraitBytes)
    self.name = name
    responseBytes = response.envelope.count
    let known = try response.verifier(knowsSigners: true)
    self.known = try Self.compare(response, known, try response.floor(signatures: 2), rounds)
    isDone(1)
    unknown = try Self.compare(
      response, try response.verifier(knowsSigners: false), try response.floor(signatures: 3), rounds)
    isDone(2)
    cachedRevocation = try await RevocationBenchmark(portraitBytes: portraitBytes).added(rounds * Self.perRound)
    isDone(3)
    stages = try response.stages(repeating: Self.perRound * 4)
    isDone(4)
    let count = rounds * Self.perRound
    let one = try await Self.rate(response, known, threads: 1, count: count)
    isDone(5)
    perSecond = [(1, one), (2, try await Self.rate(response, known, threads: 2, count: count))]
    isDone(6)
  }

  /// Runs the verification and its primitives alternately, so that a slowdown of the machine affects both equally.
  private static func compare(
    _ response: MeasuredResponse, _ verifier: AppleInApp, _ floor: PrimitiveFloor, _ rounds: Int
  ) throws -> Comparison {
    guard response.isAccepted(by: verifier) else { throw BenchError(reason: "a response was refused") }
    var (verifications, floors, ratios) = (Samples(), Samples(), Samples())
    for _ in 0..<rounds {
      let one = try time { response.isAccepted(by: verifier) }
      let other = try time(floor.run)
      verifications.add(one)
      floors.add(other)
      ratios.add(one / other)
    }
    return Comparison(verification: verifications.median, floor: floors.median, ratio: ratios.median)
  }

  private static func time(_ body: () -> Bool) throws -> Double {
    let start = CPUClock.thread()
    for _ in 0..<perRound {
      guard body() else { throw BenchError(reason: "a response was rejected, or a primitive failed") }
    }
    return (CPUClock.thread() - start) / Double(perRound)
  }

  private static func rate(
    _ response: MeasuredResponse, _ verifier: AppleInApp, threads: Int, count: Int
  ) async throws -> Double {
    let start = CPUClock.wall()
    let isRight = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<threads {
        group.addTask { (0..<count).allSatisfy { _ in response.isAccepted(by: verifier) } }
      }
      return await group.reduce(true) { $0 && $1 }
    }
    guard isRight else { throw BenchError(reason: "a response was refused") }
    return Double(threads * count) / (CPUClock.wall() - start) * 1e6
  }
}

/// Measures the cost of revocation checking with the signer's list and the document's list in memory.
struct RevocationBenchmark {
  private let response: MeasuredResponse
  private let asking: AppleInApp
  private let notAsking: AppleInApp
  private let checker: RevocationChecker

  init(portraitBytes: Int) throws {
    let authority = try MeasuredResponse.authority()
    let now = MeasuredResponse.now
    var issuing = MockIssuing()
    issuing.status = try MockList.good(.status).status(by: authority, now: now)
    response = try MeasuredResponse(portraitBytes: portraitBytes, authority: authority, issuing: issuing)
    asking = try response.verifier(knowsSigners: true, revocation: .requireGood)
    notAsking = try response.verifier(knowsSigners: true)
    let lists = [
      authority.addresses.crl: try MockList.good(.crl).published(by: authority, now: now),
      authority.addresses.statusList: try MockList.good(.status).published(by: authority, now: now),
    ]
    checker = RevocationChecker(fetcher: StaticListFetcher(lists.mapValues { .success(FetchedList(bytes: $0)) }))
  }

  /// The number of verifications in one measurement. The difference between both measurements is only a hundredth of
  /// the measured time. Each measurement is therefore short, so that both measurements of a pair run under the same
  /// load.
  private static let perPair = 5

  /// The median difference of all pairs, in microseconds per verification.
  func added(_ verifications: Int) async throws -> Double {
    // The first verification of each kind is slower.
    _ = (try await time(1, asking), try await time(1, notAsking))
    var differences = Samples()
    for _ in 0..<(verifications / Self.perPair) {
      let with = try await time(Self.perPair, asking)
      let without = try await time(Self.perPair, notAsking)
      differences.add(with - without)
    }
    return differences.median
  }

  /// Repeats only the work that revocation checking adds.
  func loop(_ repetitions: Int) async throws {
    let questions = try response.authenticate(asking).questions
    _ = try await time(1, asking)
    for _ in 0..<repetitions { _ = await checker.evidence(for: questions, at: MeasuredResponse.now) }
  }

  private func time(_ count: Int, _ verifier: AppleInApp) async throws -> Double {
    let start = CPUClock.thread()
    for _ in 0..<count {
      let authentication = try response.authenticate(verifier)
      let evidence = await checker.evidence(for: authentication.questions, at: MeasuredResponse.now)
      guard case .accepted = authentication.conclude(with: evidence).outcome else {
        throw BenchError(reason: "a response was refused")
      }
    }
    return (CPUClock.thread() - start) / Double(count)
  }
}

/// Repeats one verification, so that a profiler sees nothing else.
package enum BenchLoop {
  package static let names = ["known-45k", "known-5k", "unknown-45k", "unknown-5k", "revocation-5k"]

  package static func run(_ name: String, _ repetitions: Int) async throws {
    let portraitBytes = MeasuredResponse.sizes[name.hasSuffix("-45k") ? 0 : 1].portraitBytes
    if name.hasPrefix("revocation") {
      return try await RevocationBenchmark(portraitBytes: portraitBytes).loop(repetitions)
    }
    let response = try MeasuredResponse(portraitBytes: portraitBytes)
    let verifier = try response.verifier(knowsSigners: name.hasPrefix("known"))
    for _ in 0..<repetitions {
      guard response.isAccepted(by: verifier) else { throw BenchError(reason: "a response was refused") }
    }
  }
}

/// The reason why a measurement failed.
package struct BenchError: Error, Sendable, CustomStringConvertible {
  let reason: String
  package var description: String { reason }
}
