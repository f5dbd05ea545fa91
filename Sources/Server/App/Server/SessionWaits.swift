import Base
import HTTP
import Mdoc
import Sessions
import Trust

/// Holds the requests that wait for a session's end, and wakes them when the session ends.
///
/// `StoreWatch` reports each session that this process ends. Twice a second, one query finds the sessions that expired
/// or that other nodes ended. Each wait keeps a connection open, so waits are limited. All waits together get a quarter
/// of the connections. A relying party gets half of this quarter, an address an eighth of it, and a session four waits.
/// A request beyond a limit gets its reply at once.
final class SessionWaits: Sendable {
  enum Share: Hashable, Sendable {
    case all
    case party(String)
    case address(ClientAddress)
    case session(SessionID)
  }

  private struct State {
    var waits: [SessionID: [SessionWait]] = [:]
    var counts: [Share: Int] = [:]
    var isWatched = false
    var isClosed = false
  }

  private static let interval = Duration.milliseconds(500)

  private let connections: Int
  private let state = Locked(State())

  init(connections: Int) { self.connections = connections }

  func limit(of share: Share) -> Int {
    switch share {
    case .all: max(1, connections / 4)
    case .party: max(1, connections / 8)
    case .address: max(1, connections / 32)
    case .session: 4
    }
  }

  func count(_ share: Share = .all) -> Int { state.withLock { $0.counts[share] ?? 0 } }

  /// Begins a wait that lasts until `leave`. Returns nil if a limit is reached or the server is stopping. Call this
  /// before reading the session. If the session ends in between, the wait is still woken. `unended` returns nil if the
  /// store fails.
  func enter(
    _ session: SessionID, of party: String, from address: ClientAddress?, atMost time: Duration,
    unended: @escaping @Sendable ([SessionID]) async -> Set<SessionID>?
  ) -> SessionWait? {
    let shares = [.all, .party(party), .session(session)] + (address.map { [Share.address($0)] } ?? [])
    let (wait, isFirst) = state.withLock { state -> (SessionWait?, Bool) in
      guard !state.isClosed, shares.allSatisfy({ state.counts[$0] ?? 0 < limit(of: $0) }) else { return (nil, false) }
      let wait = SessionWait(session, shares, atMost: time)
      state.waits[session, default: []].append(wait)
      for share in shares { state.counts[share, default: 0] += 1 }
      defer { state.isWatched = true }
      return (wait, !state.isWatched)
    }
    // Detach the task, so that it does not run in the flow of the first request.
    if isFirst { Task.detached { await self.watch(unended) } }
    return wait
  }

  func leave(_ wait: SessionWait) {
    wait.end()
    state.withLock { state in
      let rest = state.waits[wait.session]?.filter { $0 !== wait } ?? []
      state.waits[wait.session] = rest.isEmpty ? nil : rest
      for share in wait.shares { state.counts[share] = state.counts[share].flatMap { $0 > 1 ? $0 - 1 : nil } }
    }
  }

  /// Wakes the waits of a session that has ended.
  func wake(_ session: SessionID) {
    for wait in state.withLock({ $0.waits[session] ?? [] }) { wait.end() }
  }

  /// Wakes a session's waits after a wallet fetches its request from this process.
  func noteFetch(_ session: SessionID) {
    for wait in state.withLock({ $0.waits[session] ?? [] }) { wait.noteFetch() }
  }

  /// Ends all waits, and refuses new ones.
  func close() {
    let waits = state.withLock { state in
      state.isClosed = true
      return state.waits.values.flatMap(\.self)
    }
    for wait in waits { wait.end() }
  }

  /// Runs while there are waits. If the store fails, waits continue until they time out.
  private func watch(_ unended: @Sendable ([SessionID]) async -> Set<SessionID>?) async {
    while true {
      // Nobody cancels this task, so the sleep cannot fail.
      try? await Task.sleep(for: Self.interval)
      let sessions = state.withLock { state in
        state.isWatched = !state.waits.isEmpty
        return Array(state.waits.keys)
      }
      guard !sessions.isEmpty else { return }
      guard let unended = await unended(sessions) else { continue }
      for session in sessions where !unended.contains(session) { wake(session) }
    }
  }
}

/// One waiting request. The wait ends when its session ends, a wallet fetches the request, the wait times out, or its
/// task is cancelled.
final class SessionWait: Sendable {
  let session: SessionID
  let shares: [SessionWaits.Share]
  private let timer: Task<Void, Never>
  private let fetch = Locked(false)

  init(_ session: SessionID, _ shares: [SessionWaits.Share], atMost time: Duration) {
    self.session = session
    self.shares = shares
    // Cancelling the sleep ends the wait.
    timer = Task { try? await Task.sleep(for: time) }
  }

  func hold() async {
    await withTaskCancellationHandler {
      await timer.value
    } onCancel: {
      end()
    }
  }

  func end() { timer.cancel() }

  var hasFetch: Bool { fetch.withLock { $0 } }

  func noteFetch() {
    fetch.withLock { $0 = true }
    end()
  }
}

/// Lends the request's slot to another request while revocation lists are fetched.
struct UnhurriedRevocation: RevocationSource {
  let source: any RevocationSource

  func evidence(for questions: [RevocationQuestion], at now: Timestamp) async -> RevocationEvidence {
    guard !questions.isEmpty else { return await source.evidence(for: questions, at: now) }
    return await HandlingPlace.lend { await source.evidence(for: questions, at: now) }
  }
}
