import Base
import HTTP
import Sessions

/// Holds the requests that wait for a session's end, and wakes them when it comes.
///
/// A wait reads nothing of its session. `MeasuredStore` tells of each end that this process writes. Ends by other nodes
/// and by time are found by one query for all waits together, twice a second while there are any.
///
/// Each wait keeps a connection, so waits have shares: all together a quarter of the connections, a relying party half
/// of these, an address an eighth, a session four. A request beyond a share is answered at once.
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

  /// Begins a wait that lasts until `leave`; nil if a share is used up or the server is stopping. Enter before the
  /// session is read: an end in between then still wakes the wait.
  ///
  /// - Parameters:
  ///   - address: nil if it does not count.
  ///   - unended: those of these sessions that have not ended; nil if the store does not answer.
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
    // For all that wait, and in no flow of the one that came first.
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

  /// Ends all waits, and lets nobody wait from now on.
  func close() {
    let waits = state.withLock { state in
      state.isClosed = true
      return state.waits.values.flatMap(\.self)
    }
    for wait in waits { wait.end() }
  }

  /// Runs while there are waits. If the store does not answer they stay, and end by their own time.
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

/// One request that waits: until its session ends, its time is over, or its task is cancelled.
final class SessionWait: Sendable {
  let session: SessionID
  let shares: [SessionWaits.Share]
  private let timer: Task<Void, Never>

  init(_ session: SessionID, _ shares: [SessionWaits.Share], atMost time: Duration) {
    self.session = session
    self.shares = shares
    // To end the wait is to cancel the sleep, so its failure is as good as its end.
    timer = Task { try? await Task.sleep(for: time) }
  }

  /// Returns when the wait has ended.
  func hold() async {
    await withTaskCancellationHandler {
      await timer.value
    } onCancel: {
      end()
    }
  }

  func end() { timer.cancel() }
}
