import Testing

@testable import HTTP

private let ms: Int64 = 1_000_000

/// Who waits, who goes first, and who is refused. Time is an argument.
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
    #expect(queue.add(1, to: .finishing, at: 0).start == [1])
    #expect(queue.add(2, to: .finishing, at: 0).start == [2])
    #expect(queue.add(3, to: .finishing, at: 0).start == [])
    #expect(queue.add(4, to: .finishing, at: 0).start == [])
    #expect(queue.leave(at: ms).start == [3])
    #expect(queue.leave(at: ms).start == [4])
  }

  @Test func `what finishes something goes before what begins something`() {
    let queue = Self.queue()
    _ = queue.add(1, to: .finishing, at: 0)
    _ = queue.add(2, to: .beginning, at: 0)
    _ = queue.add(3, to: .finishing, at: 0)
    #expect(queue.leave(at: ms).start == [3])
    #expect(queue.leave(at: ms).start == [2])
  }

  @Test func `where the oldest has waited too long a new one is refused, before the queue is full`() {
    let queue = Self.queue()
    _ = queue.add(1, to: .finishing, at: 0)
    _ = queue.add(2, to: .beginning, at: 0)
    #expect(queue.refusal(in: .beginning, at: 99 * ms) == nil)
    // The queue has stood for an interval: from now on the target holds.
    #expect(queue.refusal(in: .beginning, at: 101 * ms) == .delay)
    // Those that finish something are waited for by nobody yet.
    #expect(queue.refusal(in: .finishing, at: 101 * ms) == nil)
  }

  @Test func `what has waited too long is refused and not started`() {
    let queue = Self.queue()
    _ = queue.add(1, to: .finishing, at: 0)
    for (number, time) in [(2, 0), (3, 50), (4, 90)] { _ = queue.add(number, to: .finishing, at: Int64(time) * ms) }
    let due = queue.leave(at: 105 * ms)
    #expect(due.refuse == [2, 3])
    #expect(due.start == [4])
    // Empty at that moment: the next burst has its interval again.
    _ = queue.add(5, to: .finishing, at: 110 * ms)
    #expect(queue.leave(at: 200 * ms).start == [5])
  }

  @Test func `time passes where nothing ends`() {
    let queue = Self.queue()
    _ = queue.add(1, to: .finishing, at: 0)
    _ = queue.add(2, to: .finishing, at: 0)
    #expect(queue.expire(at: 50 * ms).refuse == [])
    #expect(queue.expire(at: 150 * ms).refuse == [2])
  }

  @Test func `as many as may wait do, and one more is refused`() {
    let queue = Self.queue(capacity: 3)
    for number in 1...3 { _ = queue.add(number, to: .finishing, at: 0) }
    #expect(queue.refusal(in: .finishing, at: ms) == .full)
    _ = queue.leave(at: ms)
    #expect(queue.refusal(in: .finishing, at: ms) == nil)
  }

  @Test func `a place that is lent is another's, and its owner comes back without one`() {
    let queue = Self.queue()
    _ = queue.add(1, to: .finishing, at: 0)
    _ = queue.add(2, to: .finishing, at: 0)
    #expect(queue.leave(at: ms).start == [2])
    #expect(queue.comeBack(at: ms).start == [])
    _ = queue.add(3, to: .finishing, at: 2 * ms)
    // Two are at work now, and one place is there.
    #expect(queue.leave(at: 3 * ms).start == [])
    #expect(queue.leave(at: 3 * ms).start == [3])
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
