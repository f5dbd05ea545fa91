import Base
import Testing

private let ms: Int64 = 1_000_000

/// The order of turns. Costs are arguments.
@Suite struct FairTurnsTests {
  private static let heavy = Flow(relyingParty: "heavy")
  private static let light = Flow(relyingParty: "light")

  @Test func `one of another flow waits for one, however many came before it`() {
    var queue = FairQueue<Int>()
    for number in 1...16 { queue.append(number, of: Self.heavy) }
    #expect(queue.popFirst() == 1)
    queue.append(100, of: Self.light)
    queue.end(Self.heavy, cost: 5 * ms)
    #expect(queue.popFirst() == 100)
    #expect(queue.popFirst() == 2)
    #expect(queue.count == 14)
  }

  @Test func `cost counts, not number`() {
    var queue = FairQueue<String>()
    for _ in 0..<100 {
      queue.append("heavy", of: Self.heavy)
      queue.append("light", of: Self.light)
    }
    var taken: [String: Int] = [:]
    for _ in 0..<55 {
      guard let next = queue.popFirst() else { break }
      taken[next, default: 0] += 1
      queue.end(next == "heavy" ? Self.heavy : Self.light, cost: next == "heavy" ? 10 * ms : ms)
    }
    #expect(taken["light"] == 50)
    #expect(taken["heavy"] == 5)
  }

  @Test func `a pause earns nothing`() {
    var queue = FairQueue<Int>()
    for number in 0..<100 { queue.append(number, of: Self.heavy) }
    for _ in 0..<50 {
      _ = queue.popFirst()
      queue.end(Self.heavy, cost: ms)
    }
    for number in 100..<110 { queue.append(number, of: Self.light) }
    var ofLight = 0
    for _ in 0..<10 {
      guard let next = queue.popFirst() else { break }
      if next >= 100 { ofLight += 1 }
      queue.end(next >= 100 ? Self.light : Self.heavy, cost: ms)
    }
    #expect((5...6).contains(ofLight))
  }

  @Test func `a flow with as much under way as it may have is passed over`() {
    var queue = FairQueue<Int>()
    for number in 1...3 { queue.append(number, of: Self.heavy) }
    #expect(queue.popFirst(below: 2) == 1)
    #expect(queue.popFirst(below: 2) == 2)
    #expect(queue.popFirst(below: 2) == nil)
    queue.append(100, of: Self.light)
    #expect(queue.popFirst(below: 2) == 100)
    queue.end(Self.heavy, cost: 9 * ms)
    #expect(queue.popFirst(below: 2) == 3)
    #expect(queue.isEmpty)
  }

  @Test func `what is taken out at once is all that waited`() {
    var queue = FairQueue<Int>()
    for number in 1...3 { queue.append(number, of: number == 2 ? Self.light : Self.heavy) }
    #expect(queue.removeAll().sorted() == [1, 2, 3])
    #expect(queue.popFirst() == nil)
    queue.append(4, of: Self.heavy)
    #expect(queue.popFirst() == 4)
  }

  @Test func `a relying party and strangers are never one flow`() {
    let parties = (0..<1_000).map { Flow(relyingParty: "party\($0)") }
    #expect(Set(parties).count == 1_000)
    let strangers = Set((0..<10_000).map { Flow(stranger: $0) })
    #expect(strangers.count < 1_024)
    #expect(strangers.isDisjoint(with: parties + [.house, .probes]))
  }
}
