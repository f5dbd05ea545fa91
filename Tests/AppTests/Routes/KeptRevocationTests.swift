import Base
import Mdoc
import Mock
import TestSupport
import Testing

@testable import App

/// Lists that are fetched once, lists that are fetched again, and the responses that wait for them.
@Suite(.onOwnThreads, .serialized) struct KeptRevocationTests {
  @Test func `fifty answers at once ask for their list once`() async throws {
    try await withTestMode { bed in
      var answers: [(session: JSON, answer: JSON)] = []
      for _ in 0..<50 {
        let session = try await bed.createSession()
        answers.append((session, try await bed.mockAnswer(session, variant: "status-valid")))
      }
      let outcomes = try await withThrowingTaskGroup(of: Outcome.self) { group in
        for (session, answer) in answers { group.addTask { try await bed.outcome(of: answer, to: session) } }
        return try await group.reduce(into: [Outcome]()) { $0.append($1) }
      }
      #expect(outcomes.count == 50)
      #expect(outcomes.allSatisfy { $0.status == "verified" && $0.revocation == "good" })
      #expect(bed.asked == ["iaca.crl": 1, "lists/status-valid": 1])
    }
  }

  @Test func `the next document finds the list kept, until its time is over`() async throws {
    try await withTestMode { bed in
      for _ in 0..<3 { try await bed.expectGood("status-valid") }
      #expect(bed.asked == ["iaca.crl": 1, "lists/status-valid": 1])
      // The mock's status lists expire after half a day. They are then fetched again.
      bed.clock.advance(43_201)
      try await bed.expectGood("status-valid")
      #expect(bed.asked == ["iaca.crl": 1, "lists/status-valid": 2])
    }
  }

  @Test func `what is kept serves on where the publisher is gone, and no longer than it is valid`() async throws {
    try await withTestMode { bed in
      try await bed.expectGood("status-valid")
      bed.mode.publisher.publish(.status(503), at: "lists/status-valid")
      bed.clock.advance(43_201)
      try await bed.expectGood("status-valid")
      #expect(bed.asked["lists/status-valid"] == 2)
      bed.clock.advance(43_200)
      try await bed.expectRefused("status-valid", with: "revocation.unavailable")
    }
  }

  @Test func `a publisher that failed is asked again after a while`() async throws {
    try await withTestMode { bed in
      let publisher = bed.mode.publisher
      publisher.publish(.status(500), at: "iaca.crl")
      for _ in 0..<3 { try await bed.expectRefused(with: "revocation.unavailable") }
      #expect(bed.asked == ["iaca.crl": 1])
      publisher.publish(of: bed.mode.authority)
      bed.clock.advance(Limits.failedFetchLifetime)
      try await bed.expectGood()
      #expect(bed.asked == ["iaca.crl": 2])
    }
  }

  @Test func `a publisher that says nothing costs its own documents some seconds, and others nothing`() async throws {
    try await withTestMode { bed in
      // The other lists are in memory.
      try await bed.expectGood()
      let session = try await bed.createSession()
      let answer = try await bed.mockAnswer(session, variant: "status-silent")
      let clock = ContinuousClock()
      let start = clock.now
      async let waiting = (bed.outcome(of: answer, to: session), clock.now - start)
      while bed.asked["lists/status-silent"] == nil { try await Task.sleep(for: .milliseconds(10)) }
      for _ in 0..<5 { try await bed.expectGood() }
      let others = clock.now - start
      let (outcome, duration) = try await waiting
      #expect(outcome.codes == ["revocation.unavailable"])
      #expect(others < duration)
      #expect(duration >= .seconds(Limits.revocationFetchSeconds - 1))
      // The limit, plus delays of a busy machine.
      #expect(duration < .seconds(4 * Limits.revocationFetchSeconds))
      // Later documents do not wait for it either.
      try await bed.expectRefused("status-silent", with: "revocation.unavailable")
      #expect(bed.asked["lists/status-silent"] == 1)
    }
  }
}
