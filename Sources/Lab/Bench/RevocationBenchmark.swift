import Base
import Mdoc
import Mock
import Presentation
import Trust

/// Measures how much revocation checking adds to a verification if no publisher has to be asked: the signer's
/// revocation list and the document's status list are in memory.
struct RevocationBenchmark {
  private let answer: BenchmarkAnswer
  private let asking: AppleInApp
  private let notAsking: AppleInApp
  private let checker: RevocationChecker

  init(portraitBytes: Int) throws {
    let authority = try BenchmarkAnswer.authority()
    let now = BenchmarkAnswer.now
    var issuing = MockIssuing()
    issuing.status = try MockStatusList.good.status(by: authority, now: now)
    answer = try BenchmarkAnswer(portraitBytes: portraitBytes, authority: authority, issuing: issuing)
    asking = try answer.verifier(knowsSigners: true, revocation: .requireGood)
    notAsking = try answer.verifier(knowsSigners: true)
    checker = RevocationChecker(
      fetcher: MemoryPublisher(lists: [
        authority.addresses.crl: try MockCRL.good.published(by: authority, at: now),
        authority.addresses.statusList: try MockStatusList.good.published(by: authority, now: now),
      ]))
  }

  /// Verifications in one measurement. The difference sought is a hundredth of the measured time, so both measurements
  /// of a pair must be short and meet the same load on the machine.
  private static let perPair = 5

  /// The added microseconds for each verification: the median of the differences of the pairs.
  func added(_ rounds: Int, _ perRound: Int) async throws -> Double {
    guard try await isAccepted(by: asking), try await isAccepted(by: notAsking) else { throw AppleBenchmark.Failed() }
    var differences = Samples()
    for _ in 0..<(rounds * perRound / Self.perPair) {
      let with = try await time(Self.perPair, asking)
      let without = try await time(Self.perPair, notAsking)
      differences.add(with - without)
    }
    return differences.median
  }

  /// Runs only the added work.
  func loop(_ repetitions: Int) async throws {
    let authentication = try answer.authenticate(asking)
    let questions = authentication.questions
    guard questions.count == 2, try await isAccepted(by: asking) else { throw AppleBenchmark.Failed() }
    for _ in 0..<repetitions { _ = await checker.evidence(for: questions, at: BenchmarkAnswer.now) }
  }

  private func time(_ count: Int, _ apple: AppleInApp) async throws -> Double {
    let start = CPUClock.thread()
    for _ in 0..<count {
      guard try await isAccepted(by: apple) else { throw AppleBenchmark.Failed() }
    }
    return (CPUClock.thread() - start) / Double(count)
  }

  private func isAccepted(by apple: AppleInApp) async throws -> Bool {
    let authentication = try answer.authenticate(apple)
    let evidence = await checker.evidence(for: authentication.questions, at: BenchmarkAnswer.now)
    guard case .accepted = authentication.conclude(with: evidence).outcome else { return false }
    return true
  }

  private struct MemoryPublisher: ListFetcher {
    let lists: [String: [UInt8]]

    func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList {
      guard let bytes = lists[address] else { throw .unavailable("nothing is published there") }
      return FetchedList(bytes: bytes)
    }
  }
}

/// Verifies one case again and again, so that a profiler sees nothing else.
package struct BenchLoop {
  package static let names = ["known-45k", "known-5k", "unknown-45k", "unknown-5k", "revocation-5k"]

  private let portraitBytes: Int
  private let knowsSigners: Bool
  private let isRevocation: Bool

  package init(name: String) {
    portraitBytes = name.hasSuffix("-45k") ? AppleBenchmark.all[0].portraitBytes : AppleBenchmark.all[1].portraitBytes
    isRevocation = name.hasPrefix("revocation")
    knowsSigners = name.hasPrefix("known")
  }

  package func run(_ repetitions: Int) async throws {
    if isRevocation { return try await RevocationBenchmark(portraitBytes: portraitBytes).loop(repetitions) }
    let answer = try BenchmarkAnswer(portraitBytes: portraitBytes)
    let verifier = try answer.verifier(knowsSigners: knowsSigners)
    for _ in 0..<repetitions {
      guard answer.isAccepted(by: verifier) else { throw AppleBenchmark.Failed() }
    }
  }
}
