import Base
import Testing

@testable import HTTP

private let ms: Int64 = 1_000_000
private let a = Flow(relyingParty: "a")
private let b = Flow(relyingParty: "b")

/// The order of waiting requests, and refusals. Time is an argument.
@Suite struct DelayControlTests {
  private static func queue(running: Int = 1, capacity: Int = 100) -> RequestQueue<Int> {
    RequestQueue(
      maxRunning: running, capacity: capacity, delay: DelayControl(target: 20 * ms, interval: 100 * ms),
      gauges: TransportGauges())
  }

  @Test func `a burst may wait for an interval, a standing queue for the target`() {
    var delay = DelayControl(target: 20 * ms, interval: 100 * ms)
    delay.noteEmpty(at: 1_000 * ms)
    #expect(delay.bound(at: 1_000 * ms) == 100 * ms)
    #expect(delay.bound(at: 1_099 * ms) == 100 * ms)
    #expect(delay.bound(at: 1_100 * ms) == 20 * ms)
    delay.noteEmpty(at: 1_200 * ms)
    #expect(delay.bound(at: 1_201 * ms) == 100 * ms)
  }

  @Test func `requests start while there is a place, and then in their order`() {
    let queue = Self.queue(running: 2)
    #expect(queue.add(1, to: .finishing, of: a, at: 0).start == [1])
    #expect(queue.add(2, to: .finishing, of: a, at: 0).start == [2])
    #expect(queue.add(3, to: .finishing, of: a, at: 0).start == [])
    #expect(queue.add(4, to: .finishing, of: a, at: 0).start == [])
    #expect(queue.leave(a, cost: 0, at: ms).start == [3])
    #expect(queue.leave(a, cost: 0, at: ms).start == [4])
  }

  @Test func `what finishes something goes before what begins something`() {
    let queue = Self.queue()
    _ = queue.add(1, to: .finishing, of: a, at: 0)
    _ = queue.add(2, to: .beginning, of: a, at: 0)
    _ = queue.add(3, to: .finishing, of: a, at: 0)
    #expect(queue.leave(a, cost: 0, at: ms).start == [3])
    #expect(queue.leave(a, cost: 0, at: ms).start == [2])
  }

  @Test func `where the oldest has waited too long a new one is refused, before the queue is full`() {
    let queue = Self.queue()
    _ = queue.add(1, to: .finishing, of: a, at: 0)
    _ = queue.add(2, to: .beginning, of: a, at: 0)
    #expect(queue.refusal(in: .beginning, of: a, at: 99 * ms) == nil)
    // The queue was not empty for an interval: from now on the target applies.
    #expect(queue.refusal(in: .beginning, of: a, at: 101 * ms) == .delay)
    // No request that continues a flow is waiting yet.
    #expect(queue.refusal(in: .finishing, of: a, at: 101 * ms) == nil)
  }

  @Test func `what has waited too long is refused and not started`() {
    let queue = Self.queue()
    _ = queue.add(1, to: .finishing, of: a, at: 0)
    for (number, time) in [(2, 0), (3, 50), (4, 90)] {
      _ = queue.add(number, to: .finishing, of: a, at: Int64(time) * ms)
    }
    let due = queue.leave(a, cost: 0, at: 105 * ms)
    #expect(due.refuse == [2, 3])
    #expect(due.start == [4])
    // The queue is empty at that moment: the next burst gets its interval again.
    _ = queue.add(5, to: .finishing, of: a, at: 110 * ms)
    #expect(queue.leave(a, cost: 0, at: 200 * ms).start == [5])
  }

  @Test func `time passes where nothing ends`() {
    let queue = Self.queue()
    _ = queue.add(1, to: .finishing, of: a, at: 0)
    _ = queue.add(2, to: .finishing, of: a, at: 0)
    #expect(queue.expire(at: 50 * ms).refuse == [])
    #expect(queue.expire(at: 150 * ms).refuse == [2])
  }

  @Test func `as many as may wait do, and one more is refused`() {
    let queue = Self.queue(capacity: 3)
    for number in 1...3 { _ = queue.add(number, to: .finishing, of: a, at: 0) }
    #expect(queue.refusal(in: .finishing, of: a, at: ms) == .full)
    _ = queue.leave(a, cost: 0, at: ms)
    #expect(queue.refusal(in: .finishing, of: a, at: ms) == nil)
  }

  @Test func `a place that is lent is another's, and its owner comes back without one`() {
    let queue = Self.queue()
    _ = queue.add(1, to: .finishing, of: a, at: 0)
    _ = queue.add(2, to: .finishing, of: a, at: 0)
    #expect(queue.leave(a, cost: 0, at: ms).start == [2])
    #expect(queue.comeBack(a, at: ms).start == [])
    _ = queue.add(3, to: .finishing, of: a, at: 2 * ms)
    // Two are running now, and one slot is free.
    #expect(queue.leave(a, cost: 0, at: 3 * ms).start == [])
    #expect(queue.leave(a, cost: 0, at: 3 * ms).start == [3])
  }

  @Test func `one flow fills its own line, and nobody else is refused`() {
    let queue = Self.queue(running: 2)
    for number in 1...9 { _ = queue.add(number, to: .finishing, of: a, at: 0) }
    #expect(queue.refusal(in: .finishing, of: a, at: 101 * ms) == .delay)
    #expect(queue.refusal(in: .finishing, of: b, at: 101 * ms) == nil)
    // Its request begins at once, beyond the slots that the other flow has.
    let due = queue.add(100, to: .beginning, of: b, at: 101 * ms)
    #expect(due.start == [100])
    #expect(due.refuse == [3, 4, 5, 6, 7, 8, 9])
  }

  @Test func `what comes back in numbers keeps nobody else from beginning`() {
    let queue = Self.queue(running: 2)
    for number in 1...20 {
      _ = queue.add(number, to: .finishing, of: a, at: 0)
      _ = queue.leave(a, cost: 0, at: 0)
    }
    for _ in 1...20 { _ = queue.comeBack(a, at: ms) }
    #expect(queue.add(21, to: .finishing, of: a, at: ms).start == [])
    #expect(queue.add(100, to: .finishing, of: b, at: ms).start == [100])
  }

  @Test func `flows take turns at places that come free`() {
    let queue = Self.queue(running: 1)
    for number in 1...4 { _ = queue.add(number, to: .finishing, of: a, at: 0) }
    #expect(queue.add(101, to: .finishing, of: b, at: 0).start == [101])
    for number in 102...104 { _ = queue.add(number, to: .finishing, of: b, at: 0) }
    var started: [Int] = []
    for flow in [a, b, a, b, a] { started += queue.leave(flow, cost: ms, at: ms).start }
    #expect(started.filter { $0 < 100 }.count >= 2)
    #expect(started.filter { $0 > 100 }.count >= 2)
  }

  @Test func `if the queue is full, the flow with the most gives way`() {
    let queue = Self.queue(capacity: 4)
    for number in 1...4 { _ = queue.add(number, to: .finishing, of: a, at: 0) }
    #expect(queue.refusal(in: .finishing, of: a, at: ms) == .full)
    #expect(queue.refusal(in: .finishing, of: b, at: ms) == nil)
    let due = queue.add(100, to: .finishing, of: b, at: ms)
    #expect(due.displaced == [2])
    #expect(due.start == [100])
  }

  @Test func `a queue keeps its order over thousands`() {
    var queue = FirstInFirstOut<Int>()
    var next = 0
    for number in 0..<5_000 {
      queue.append(number)
      if number % 3 > 0 {
        #expect(queue.popFirst() == next)
        next += 1
      }
    }
    #expect(queue.count == 5_000 - next)
    while let element = queue.popFirst() {
      #expect(element == next)
      next += 1
    }
    #expect(next == 5_000)
    #expect(queue.isEmpty)
  }
}
