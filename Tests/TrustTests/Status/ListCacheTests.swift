import Base
import Testing

@testable import Trust

/// Lifetimes of kept lists, their loads, and failures of loads.
@Suite struct ListCacheTests {
  private static let start = Timestamp(secondsSince1970: 1_795_000_000)

  /// A publisher that counts requests, and serves the given lists.
  private final class Publisher: Sendable {
    struct State {
      var answer: Result<Kept<String>, RevocationListError>
      var asked = 0
    }

    private let state: Locked<State>

    init(_ answer: Result<Kept<String>, RevocationListError>) { state = Locked(State(answer: answer)) }

    var asked: Int { state.withLock { $0.asked } }
    func serve(_ answer: Result<Kept<String>, RevocationListError>) { state.withLock { $0.answer = answer } }

    func load() async throws(RevocationListError) -> Kept<String> {
      await Task.yield()
      return try state.withLock { state in
        state.asked += 1
        return state.answer
      }.get()
    }
  }

  private static func kept(
    _ list: String, bytes: Int = 1, issued: Int64 = 0, fresh: Int64 = 100, expires: Int64 = 1_000
  ) -> Kept<String> {
    Kept(list: list, bytes: bytes, issuedAt: start + issued, freshUntil: start + fresh, expires: start + expires)
  }

  private static let down = RevocationListError(.unavailable, "down")

  /// A publisher that stays silent until a test releases it.
  private final class SilentPublisher: Sendable {
    private let waiting = Locked<[CheckedContinuation<Void, Never>]>([])

    var asked: Int { waiting.withLock { $0.count } }
    func answer() { for continuation in waiting.withLock({ $0 }) { continuation.resume() } }

    func load() async throws(RevocationListError) -> Kept<String> {
      await withCheckedContinuation { continuation in waiting.withLock { $0.append(continuation) } }
      return ListCacheTests.kept("late", issued: 2, fresh: 200)
    }
  }

  @Test func `of those who wait for a silent publisher so many may, and the others have their answer at once`() async {
    let room = WaitingRoom(limitForOne: 2, limit: 3)
    let keeper = ListCache<String, String>(room: room)
    let (silent, other) = (SilentPublisher(), Publisher(.success(Self.kept("other"))))
    // One of its lists was fetched earlier, and is stale.
    _ = try? await keeper.list("stale", of: "a", at: Self.start, load: Publisher(.success(Self.kept("stale"))).load)
    let lists = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<2 { group.addTask { try? await keeper.list("a", of: "a", at: Self.start, load: silent.load) } }
      while room.count < 2 { await Task.yield() }
      do throws(RevocationListError) {
        _ = try await keeper.list("a", of: "a", at: Self.start, load: silent.load)
        Issue.record("it waited")
      } catch {
        #expect(error.uncertainty == .unavailable)
      }
      // Lists in memory are used, stale or not, and other hosts' lists are fetched.
      let stale = try? await keeper.list("stale", of: "a", at: Self.start + 500, load: silent.load)
      #expect(stale == "stale")
      let others = try? await keeper.list("b", of: "b", at: Self.start, load: other.load)
      #expect(others == "other")
      while silent.asked < 2 { await Task.yield() }
      silent.answer()
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(lists == ["late", "late"])
    #expect(room.count == 0)
  }

  @Test func `all publishers together have so many who wait`() async {
    let room = WaitingRoom(limitForOne: 2, limit: 2)
    let answers = await room.wait(for: "a") {
      await room.wait(for: "b") { (await room.wait(for: "c") { 1 }, room.count) }
    }
    #expect(answers??.0 == nil && answers??.1 == 2)
    #expect(await room.wait(for: "c") { 1 } == 1)
  }

  private func ask(
    _ keeper: ListCache<String, String>, _ publisher: Publisher, after seconds: Int64 = 0, source: String = "a"
  ) async -> Result<String, RevocationListError> {
    do throws(RevocationListError) {
      return .success(try await keeper.list(source, of: "publisher", at: Self.start + seconds, load: publisher.load))
    } catch {
      return .failure(error)
    }
  }

  private func list(_ result: Result<String, RevocationListError>) -> String? { try? result.get() }

  @Test func `a fresh list is not asked for again, a stale one is`() async {
    let keeper = ListCache<String, String>()
    let publisher = Publisher(.success(Self.kept("one")))
    for second: Int64 in [0, 1, 99] { #expect(list(await ask(keeper, publisher, after: second)) == "one") }
    #expect(publisher.asked == 1)
    publisher.serve(.success(Self.kept("two", issued: 1, fresh: 200)))
    #expect(list(await ask(keeper, publisher, after: 100)) == "two")
    #expect(publisher.asked == 2)
  }

  @Test func `fifty who ask at once are answered by one load`() async {
    let keeper = ListCache<String, String>()
    let publisher = Publisher(.success(Self.kept("one")))
    let answers = await withTaskGroup(of: String?.self) { group in
      for _ in 0..<50 { group.addTask { self.list(await self.ask(keeper, publisher)) } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == [String?](repeating: "one", count: 50))
    #expect(publisher.asked == 1)
  }

  @Test func `a stale list serves on while the publisher is down, until it expires`() async {
    let keeper = ListCache<String, String>()
    let publisher = Publisher(.success(Self.kept("one")))
    _ = await ask(keeper, publisher)
    publisher.serve(.failure(Self.down))
    #expect(list(await ask(keeper, publisher, after: 500)) == "one")
    #expect(list(await ask(keeper, publisher, after: 999)) == "one")
    let expired = await ask(keeper, publisher, after: 1_000)
    #expect(throws: RevocationListError.self) { try expired.get() }
  }

  @Test func `a publisher that failed is asked again after ten seconds`() async {
    let instant = ContinuousClock.now
    let keeper = ListCache<String, String>(clock: { instant })
    let publisher = Publisher(.failure(Self.down))
    for second: Int64 in [0, 1, 9] { #expect(list(await ask(keeper, publisher, after: second)) == nil) }
    #expect(publisher.asked == 1)
    publisher.serve(.success(Self.kept("one")))
    #expect(list(await ask(keeper, publisher, after: 10)) == "one")
    #expect(publisher.asked == 2)
  }

  @Test func `a publisher that failed while the clock was ahead is asked again when that is set back`() async {
    let instant = ContinuousClock.now
    let keeper = ListCache<String, String>(clock: { instant })
    let publisher = Publisher(.failure(Self.down))
    #expect(list(await ask(keeper, publisher, after: 7_200)) == nil)
    publisher.serve(.success(Self.kept("one")))
    #expect(list(await ask(keeper, publisher)) == "one")
    #expect(publisher.asked == 2)
  }

  @Test func `a list that was fetched while the clock was ahead is asked for again when that is set back`() async {
    let keeper = ListCache<String, String>()
    let ahead: Int64 = 200_000
    let publisher = Publisher(.success(Self.kept("one", fresh: ahead + Limits.longestListLifetime, expires: 1_000_000)))
    #expect(list(await ask(keeper, publisher, after: ahead)) == "one")
    publisher.serve(.success(Self.kept("two", expires: 1_000_000)))
    #expect(list(await ask(keeper, publisher)) == "two")
    #expect(publisher.asked == 2)
  }

  @Test func `an older list does not take back what a newer one said`() async {
    let keeper = ListCache<String, String>()
    let publisher = Publisher(.success(Self.kept("newer", issued: 50)))
    _ = await ask(keeper, publisher)
    publisher.serve(.success(Self.kept("older", issued: 10, fresh: 900)))
    #expect(list(await ask(keeper, publisher, after: 200)) == "newer")
    #expect(list(await ask(keeper, publisher, after: 201)) == "newer")
    #expect(publisher.asked == 2)
  }

  /// Otherwise a hanging publisher would make all callers wait, one after the other.
  @Test func `the ten seconds begin when the waiting ends`() async {
    let instants = Locked<[ContinuousClock.Instant]>([.now + .seconds(10), .now])
    let keeper = ListCache<String, String>(clock: { instants.withLock { $0.popLast() ?? .now } })
    let publisher = Publisher(.failure(Self.down))
    for second: Int64 in [0, 10, 18] { #expect(list(await ask(keeper, publisher, after: second)) == nil) }
    #expect(publisher.asked == 1)
  }

  @Test func `an older list does not follow a newer one that is over`() async {
    let keeper = ListCache<String, String>()
    let publisher = Publisher(.success(Self.kept("newer", issued: 50, expires: 300)))
    _ = await ask(keeper, publisher)
    publisher.serve(.success(Self.kept("older", issued: 10, fresh: 900)))
    #expect(list(await ask(keeper, publisher, after: 200)) == "newer")
    #expect(list(await ask(keeper, publisher, after: 300)) == nil)
    #expect(list(await ask(keeper, publisher, after: 400)) == nil)
    publisher.serve(.success(Self.kept("newest", issued: 60, fresh: 900)))
    #expect(list(await ask(keeper, publisher, after: 500)) == "newest")
  }

  @Test func `a list that is over when it comes is none`() async {
    let keeper = ListCache<String, String>()
    let publisher = Publisher(.success(Self.kept("late", expires: 5)))
    #expect(list(await ask(keeper, publisher, after: 5)) == nil)
  }

  @Test func `of too many lists, or too many bytes, those go first that expire first`() async {
    let byCount = ListCache<String, String>(maximumLists: 2)
    let byBytes = ListCache<String, String>(maximumBytes: 20)
    for (source, expires) in [("a", 1_000), ("b", 500), ("c", 700)] as [(String, Int64)] {
      let publisher = Publisher(.success(Self.kept(source, bytes: 9, fresh: 400, expires: expires)))
      _ = await ask(byCount, publisher, source: source)
      _ = await ask(byBytes, publisher, source: source)
    }
    for keeper in [byCount, byBytes] {
      #expect(["a", "b", "c"].map { keeper.fresh($0, at: Self.start + 1) } == ["a", nil, "c"])
    }
  }
}
