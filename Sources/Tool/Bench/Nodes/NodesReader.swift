import App
import Base
import Glibc

/// Asks the nodes what concerns all sessions together.
struct NodesReader: Sendable {
  let ports: [UInt16]
  let token: String

  /// Waits until every node says that it is.
  func areReady(within seconds: Int) async -> Bool {
    await onOwnThread { () -> Bool in
      let end = CPUClock.wall() + Double(seconds) * 1e6
      return ports.allSatisfy { port in
        let node = NodeConnection(port: port, token: token)
        while node.call("GET", "/readyz")?.status != 200 {
          guard CPUClock.wall() < end else { return false }
          usleep(100_000)
        }
        return true
      }
    }
  }

  /// How many events of each session say that it was verified; nil where they cannot be read.
  func verifiedEvents() async -> [String: Int]? {
    await onOwnThread { () -> [String: Int]? in
      guard let port = ports.first else { return nil }
      let node = NodeConnection(port: port, token: token)
      let path = "/v1/events?limit=\(Limits.largestPage)&type=verification_session.verified"
      var counts: [String: Int] = [:]
      var last: String?
      while true {
        let page = path + (last.map { "&starting_after=" + $0 } ?? "")
        guard let reply = node.call("GET", page), reply.status == 200, let list = try? JSON(parsing: reply.body),
          let events = list["data"]?.array
        else { return nil }
        for event in events { counts[event["data"]?["id"]?.string ?? "", default: 0] += 1 }
        guard list["has_more"] == true, let next = events.last?["id"]?.string else { return counts }
        last = next
      }
    }
  }

  private func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
      Task { await BackgroundThread.run { continuation.resume(returning: body()) } }
    }
  }
}
