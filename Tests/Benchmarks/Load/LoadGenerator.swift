import Base
import Glibc
import TestMode
import Vectors

/// Sends whole flows at a fixed rate, whatever the replies (an open loop). A flow creates a session, and after the
/// reply submits a response.
///
/// Real clients do not wait for each other. A generator that waited for each reply before its next request would slow
/// down with the server and never overload it. Times count from when a flow was due. The response belongs to an earlier
/// session, because making a response takes the wallet's time. A submit that was refused for load has consumed nothing,
/// so its response is submitted again later.
struct LoadGenerator {
  typealias Answer = ServerBenchmarkWorker.Answer

  let port: UInt16
  let token: String
  let connections: Int

  /// Seconds for which replies still count after the last flow was due.
  private static let grace = 10.0

  private enum Step {
    case create
    case submit(Answer)
  }

  private struct Call {
    let step: Step
    let due: Double
    let sent: Double
  }

  private struct Place {
    var connection: ClientConnection
    var call: Call?
  }

  struct Failed: Error { let reason: String }

  /// Runs the whole load on the calling thread, and blocks it.
  /// - Parameter afterwards: flows a second after the load; 0 for none.
  func run(rate: Double, seconds: Double, afterwards: Double, answers: [Answer]) throws(Failed) -> LoadFigures {
    var places: [Place] = []
    for _ in 0..<connections {
      guard let connection = connect() else { throw Failed(reason: "no connection") }
      places.append(Place(connection: connection))
    }
    var pool = answers
    var free = Array(places.indices)
    var figures = LoadFigures(rate: rate, seconds: seconds)
    let schedule = LoadSchedule(rate: rate, seconds: seconds, afterwards: afterwards)
    let start = CPUClock.wall()
    var started = 0
    while true {
      let now = (CPUClock.wall() - start) / 1e6
      while started < schedule.count, case let due = schedule.due(started), due <= now {
        started += 1
        guard !free.isEmpty else {
          figures.unsent += 1
          figures.noteRefused(due: due)
          continue
        }
        // Connections are used in turn, so that none is idle for so long that the server closes it.
        let index = free.removeFirst()
        send(.create, due: due, at: now, in: &places[index], &figures)
        if places[index].call == nil { free.append(index) }
      }
      guard free.count < places.count || started < schedule.count, now < schedule.end + Self.grace else { break }
      for index in try ready(places) {
        guard let call = places[index].call else { continue }
        let next = finish(call, &places[index], &pool, &figures, from: start)
        guard let next else { continue }
        if case .submit? = next {
          send(next ?? .create, due: call.due, at: (CPUClock.wall() - start) / 1e6, in: &places[index], &figures)
        }
        if places[index].call == nil { free.append(index) }
      }
    }
    figures.unanswered = places.count { $0.call != nil }
    return figures
  }

  /// Waits at most a millisecond for replies, and returns the places that have news.
  private func ready(_ places: [Place]) throws(Failed) -> [Int] {
    var entries = places.map { place in
      pollfd(fd: place.call == nil ? -1 : place.connection.descriptor, events: Int16(POLLIN), revents: 0)
    }
    guard poll(&entries, nfds_t(entries.count), 1) >= 0 || errno == EINTR else { throw Failed(reason: "poll") }
    return entries.indices.filter { entries[$0].revents != 0 }
  }

  private func send(_ step: Step, due: Double, at now: Double, in place: inout Place, _ figures: inout LoadFigures) {
    let (path, body) =
      switch step {
      case .create: ("/v1/verification_sessions", ServerBenchmarkWorker.requestBytes)
      case .submit(let answer): ("/v1/verification_sessions/\(answer.session)/submit", answer.body)
      }
    guard place.connection.sendAtOnce("POST", path, body) else {
      figures.broken += 1
      reopen(&place)
      return
    }
    place.call = Call(step: step, due: due, sent: now)
  }

  /// The flow's next step. Nil if the reply is not here yet; `.some(nil)` if the flow has ended.
  private func finish(
    _ call: Call, _ place: inout Place, _ pool: inout [Answer], _ figures: inout LoadFigures,
    from start: Double
  ) -> Step?? {
    let reply: ClientConnection.Reply
    switch place.connection.receiveAtOnce() {
    case .waiting: return nil
    case .broken:
      figures.broken += 1
      place.call = nil
      reopen(&place)
      return .some(nil)
    case .replied(let received): reply = received
    }
    place.call = nil
    let now = (CPUClock.wall() - start) / 1e6
    if reply.status >= 400 { figures.noteRefused(due: call.due) }
    switch (call.step, reply.status) {
    case (.create, 201):
      if call.due < figures.seconds { figures.created.append(now - call.sent) }
      guard let answer = pool.popLast() else {
        figures.withoutAnswer += 1
        return .some(nil)
      }
      return .submit(answer)
    case (.submit, 200) where reply.body.firstRange(of: Self.verified) != nil:
      if call.due < figures.seconds { figures.submitted.append(now - call.sent) }
      figures.noteFlow(due: call.due, endedAt: now)
    case (.create, 503), (.create, 429): figures.shedCreations += 1
    case (.submit(let answer), 503), (.submit(let answer), 429):
      figures.shedSubmits += 1
      pool.append(answer)
    default: figures.wrong[reply.status, default: 0] += 1
    }
    return .some(nil)
  }

  private static let verified = Array("\"status\":\"verified\"".utf8)

  private func connect() -> ClientConnection? { try? ClientConnection(port: port, token: token) }

  /// Replaces a broken connection by a new one; keeps the broken one if none can be opened.
  private func reopen(_ place: inout Place) { place.connection = connect() ?? place.connection }
}

/// The times at which flows are due: first at one rate, then at another.
struct LoadSchedule {
  /// How long the second rate lasts, in seconds.
  static let afterwardsSeconds = 15.0

  let rate: Double
  let seconds: Double
  let afterwards: Double

  private var loaded: Int { Int(rate * seconds) }

  var count: Int { loaded + Int(afterwards * Self.afterwardsSeconds) }
  var end: Double { seconds + (afterwards > 0 ? Self.afterwardsSeconds : 0) }

  func due(_ number: Int) -> Double {
    number < loaded ? Double(number) / rate : seconds + Double(number - loaded) / afterwards
  }
}

extension ClientConnection {
  /// The state of the reply to the request in flight.
  fileprivate enum Progress {
    case waiting
    case replied(Reply)
    /// The server closed the connection before a whole reply, or the reply is not HTTP.
    case broken
  }

  /// Never blocks. False if the server does not take all of it at once, although one request fits into the system's
  /// buffers.
  fileprivate func sendAtOnce(_ method: String, _ path: String, _ body: [UInt8]) -> Bool {
    let bytes = request(method, path, body)
    return write(bytes[...], flags: Int32(MSG_DONTWAIT)) == bytes.count
  }

  /// Never blocks.
  fileprivate func receiveAtOnce() -> Progress {
    let count = read(flags: Int32(MSG_DONTWAIT))
    if count < 0, errno == EAGAIN || errno == EINTR { return .waiting }
    guard count >= 0 else { return .broken }
    do throws(ClientError) {
      return try reply(isEnded: count == 0).map { .replied($0) } ?? .waiting
    } catch {
      return .broken
    }
  }
}
