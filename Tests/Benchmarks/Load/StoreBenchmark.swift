import App
import Base
import Cryptography
import Mdoc
import Sessions
import Vectors

/// Measures a store: sessions are created, consumed and concluded, by one caller and by sixteen at once.
struct StoreBenchmark {
  static let callers = [1, 16]

  let store: any SessionStore
  /// Sessions in one measurement.
  let sessions: Int

  struct Figures {
    let callers: Int
    let perSecond: Double
    /// Over all calls; a session makes three.
    let p50Microseconds: Double
    let p99Microseconds: Double
  }

  func run() async throws -> [Figures] {
    // This first run is not counted: connections prepare their statements when they first use them.
    _ = try await measure(callers: 16, sessions: 200)
    var figures: [Figures] = []
    for callers in Self.callers { figures.append(try await measure(callers: callers, sessions: sessions)) }
    return figures
  }

  private func measure(callers: Int, sessions: Int) async throws -> Figures {
    let start = CPUClock.wall()
    let latencies = try await withThrowingTaskGroup(of: [Double].self) { group in
      for _ in 0..<callers {
        group.addTask {
          var latencies: [Double] = []
          for _ in 0..<(sessions / callers) { latencies += try await verify() }
          return latencies
        }
      }
      return try await group.reduce(into: [Double]()) { $0 += $1 }
    }
    let seconds = (CPUClock.wall() - start) / 1e6
    let sorted = latencies.sorted()
    return Figures(
      callers: callers, perSecond: Double(sessions / callers * callers) / seconds,
      p50Microseconds: sorted[sorted.count / 2], p99Microseconds: sorted[sorted.count * 99 / 100])
  }

  /// Runs one session from creation to conclusion, and returns the duration of each call.
  private func verify() async throws -> [Double] {
    let now = Timestamp(secondsSince1970: 1_795_000_000)
    let address = SessionAddress(relyingParty: "bench", id: try SessionID.random())
    let element = ElementRequest(ElementReference(Namespace.mDL, "given_name"))
    let session = SessionRecord(
      address: address, created: now, expiresAt: now + 600, clientSecretHash: try Random.bytes(32),
      content: SessionContent(
        request: PresentationRequest(documents: [DocumentRequest(docType: DocType.mDL, elements: [element])]),
        origin: nil, clientReferenceID: nil, metadata: []),
      // The offer has the size of Apple's protocol.
      offers: [
        ProtocolOffer(
          protocolName: "apple-in-app", data: JSONText(["nonce": "x"]), sealedMaterial: try Random.bytes(80))
      ])
    let attempt = try AttemptID.random()
    let report = ReportRecord(
      VerificationReport(
        verifiedAt: now, trustSnapshot: "", checks: [],
        documents: [DocumentReport(docType: DocType.mDL, checks: [Check(.digestMismatch, .passed)])]),
      id: ReportID(of: address.id))
    var times = [CPUClock.wall()]
    try await store.create(session, finishing: nil)
    times.append(CPUClock.wall())
    guard case .consumed = try await store.consume(address, protocolName: "apple-in-app", attempt: attempt, at: now)
    else { throw StoreError.corrupt("not consumed") }
    times.append(CPUClock.wall())
    let outcome = AttemptOutcome(
      address: address, attempt: attempt, protocolName: "apple-in-app", conclusion: .verified(.none), report: report)
    guard case .recorded = try await store.recordOutcome(outcome, at: now, finishing: nil) else {
      throw StoreError.corrupt("not recorded")
    }
    times.append(CPUClock.wall())
    return zip(times.dropFirst(), times).map { $0 - $1 }
  }
}

// MARK: Output

extension StoreBenchmark.Figures {
  var text: String {
    "\(callers) caller\(callers == 1 ? "" : "s"): \(decimal(perSecond, 0)) sessions a second; "
      + "one call p50 \(decimal(p50Microseconds / 1_000, 2)) ms, p99 \(decimal(p99Microseconds / 1_000, 2)) ms"
  }

  var json: JSON {
    [
      "callers": .integer(Int64(callers)), "sessions_per_second": .integer(Int64(perSecond)),
      "p50_microseconds": .integer(Int64(p50Microseconds)), "p99_microseconds": .integer(Int64(p99Microseconds)),
    ]
  }
}
