import Base
import Glibc
import TestMode
import Testing

@testable import MdocTool

/// A session after the server was killed and started again on the same SQLite file (S01, S02, S09).
@Suite(.enabled(if: ServerProcess.program != nil, "the program was not built"), .serialized)
struct CrashTests {
  private typealias Session = (id: String, answer: JSON)

  @Test func anAnswerThatWasTakenBeforeTheCrashIsTakenByNobodyAfterIt() async throws {
    let folder = try Scratch()
    let first = try ServerProcess(store: folder("s.sqlite"))
    let session = try await Self.session(at: first.client)
    #expect(try await Self.submit(session, to: first.client).body["status"] == "verified")
    first.kill()
    let second = try ServerProcess(store: folder("s.sqlite"))
    #expect(try await Self.post(session, 50, to: second.client) == ["session.already_used": 50])
    #expect(try await Self.status(session, at: second.client) == "verified")
    #expect(second.end(with: SIGTERM) == 0)
  }

  @Test func of50ParallelPostsOneIsVerified() async throws {
    let folder = try Scratch()
    let server = try ServerProcess(store: folder("s.sqlite"))
    let session = try await Self.session(at: server.client)
    let replies = try await Self.post(session, 50, to: server.client)
    #expect(replies == ["verified": 1, "session.already_used": 49])
  }

  /// Killed at a random moment under load: no response is accepted twice, and no acknowledged outcome is lost.
  @Test func aKillAtAnyMomentLosesNothingAndDoublesNothing() async throws {
    let folder = try Scratch()
    var server = try ServerProcess(store: folder("s.sqlite"))
    for round in 0..<10 {
      var sessions: [Session] = []
      for _ in 0..<6 { sessions.append(try await Self.session(at: server.client)) }
      let replies = await Self.stream(sessions, to: server, killedAfter: UInt32(round) * 1500)
      server = try ServerProcess(store: folder("s.sqlite"))
      for (session, reply) in zip(sessions, replies) {
        let before = try await Self.status(session, at: server.client)
        let again = try await Self.post(session, 2, to: server.client)
        if reply == "verified" {
          #expect(before == "verified" && again == ["session.already_used": 2])
        } else if before == "requires_input" {
          #expect(again == ["verified": 1, "session.already_used": 1])
        } else {
          // Consumed, and its outcome may be recorded without an acknowledgement.
          #expect(["processing", "verified"].contains(before) && again == ["session.already_used": 2])
        }
      }
    }
  }

  // MARK: Steps

  private static func session(at client: LoopbackClient) async throws -> Session {
    let script = DemoScript(client: client, console: Console { _, _ in true }, printsJSON: true)
    let id = try await script.createSession()
    return (id, try await script.mockResponse(to: id, variant: "good"))
  }

  private static func submit(_ session: Session, to client: LoopbackClient) async throws -> LoopbackClient.Reply {
    try await client.post("/v1/verification_sessions/\(session.id)/submit", session.answer)
  }

  private static func status(_ session: Session, at client: LoopbackClient) async throws -> String {
    try await client.get("/v1/verification_sessions/\(session.id)").body["status"]?.string ?? ""
  }

  /// The statuses or codes of this number of parallel posts, counted.
  private static func post(_ session: Session, _ times: Int, to client: LoopbackClient) async throws -> [String: Int] {
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<times {
        group.addTask {
          while true {
            let reply = try await submit(session, to: client)
            if reply.code != "api.overloaded" { return reply.code ?? reply.body["status"]?.string ?? "" }
            try await Task.sleep(for: .milliseconds(50))
          }
        }
      }
      return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
    }
  }

  /// The status that each post got before the server was killed; nil for none.
  private static func stream(
    _ sessions: [Session], to server: ServerProcess, killedAfter microseconds: UInt32
  ) async -> [String?] {
    let client = server.client
    return await withTaskGroup(of: (Int, String?).self) { group in
      for (index, session) in sessions.enumerated() {
        group.addTask { (index, try? await submit(session, to: client).body["status"]?.string) }
      }
      usleep(microseconds)
      server.kill()
      return await group.reduce(into: [String?](repeating: nil, count: sessions.count)) { $0[$1.0] = $1.1 }
    }
  }
}
