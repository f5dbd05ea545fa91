import Base
import Testing

@testable import HTTP

/// The shares of the memory for bodies.
@Suite struct BodyBudgetTests {
  private static let backend = BodyOwner.relyingParty(Flow(relyingParty: "a"))

  private static func budget() -> BodyBudget { BodyBudget(limit: 1_600, largestBody: 100, gauges: TransportGauges()) }

  private static func stranger(_ number: Int) -> BodyOwner { .address(ClientAddress("192.0.2.\(number)")) }

  private func hold(_ budget: BodyBudget, _ length: Int, _ owner: BodyOwner) throws(BodyBudgetError) -> BodyHold {
    let hold = try budget.hold(length, for: owner)
    #expect(hold.take(length))
    return hold
  }

  @Test func `an address has an eighth, and gets it back`() throws {
    let budget = Self.budget()
    let held = [try hold(budget, 100, Self.stranger(1)), try hold(budget, 100, Self.stranger(1))]
    #expect(throws: BodyBudgetError.share) { try hold(budget, 1, Self.stranger(1)) }
    _ = try hold(budget, 1, Self.stranger(2))
    held[0].release()
    _ = try hold(budget, 100, Self.stranger(1))
  }

  @Test func `what was declared is a share that nobody else of the address has`() throws {
    let budget = Self.budget()
    let declared = try budget.hold(200, for: Self.stranger(1))
    #expect(throws: BodyBudgetError.share) { try hold(budget, 1, Self.stranger(1)) }
    #expect(declared.take(200))
    // The data made from the body exceed the share.
    #expect(!declared.take(1))
  }

  @Test func `two addresses of one IPv6 network are one`() throws {
    let budget = Self.budget()
    _ = try budget.hold(1, for: .address(ClientAddress("2001:db8::1")))
    let held = try hold(budget, 200, .address(ClientAddress("2001:db8::2")))
    #expect(throws: BodyBudgetError.share) { try hold(budget, 1, .address(ClientAddress("2001:db8:0:0:ffff::3"))) }
    #expect(try !hold(budget, 1, .address(ClientAddress("2001:db8:0:1::3"))).take(200))
    held.release()
  }

  @Test func `strangers together leave a quarter to those with keys, of whom one has half`() throws {
    let budget = Self.budget()
    var held: [BodyHold] = []
    for number in 0..<6 { held.append(try hold(budget, 200, Self.stranger(number))) }
    #expect(throws: BodyBudgetError.memory) { try hold(budget, 1, Self.stranger(7)) }
    held.append(try hold(budget, 400, Self.backend))
    #expect(throws: BodyBudgetError.memory) { try hold(budget, 1, Self.backend) }
    for hold in held { hold.release() }
    let half = try hold(budget, 800, Self.backend)
    #expect(throws: BodyBudgetError.share) { try hold(budget, 1, Self.backend) }
    half.release()
  }

  @Test func `what is released, or forgotten, is held no more, and takes no more`() throws {
    let gauges = TransportGauges()
    let budget = BodyBudget(limit: 1_000, largestBody: 100, gauges: gauges)
    let held = try hold(budget, 100, Self.backend)
    #expect(held.take(50))
    #expect(gauges.bodyBytes.load(ordering: .relaxed) == 150)
    held.release()
    held.release()
    #expect(!held.take(1))
    _ = try hold(budget, 100, Self.backend)
    #expect(gauges.bodyBytes.load(ordering: .relaxed) == 0)
  }
}
