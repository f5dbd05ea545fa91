import Base
import Testing
import Trust

/// Every fetch ends: by itself, in time, or with its task.
@Suite(.timeLimit(.minutes(10))) struct TimeTests {
  private static let rules = FetchFixture.rules.with { $0.timeLimit = .milliseconds(300) }
  private static let late = FetchError.unavailable("no complete reply in time")

  @Test func silenceIsNotWaitedOut() async throws {
    let server = try LoopbackServer { _ in [.silence] }
    defer { server.stop() }
    #expect(try await FetchFixture().fault(server.url(), Self.rules) == Self.late)
  }

  @Test func aTrickleIsNotWaitedOut() async throws {
    let trickle: [LoopbackServer.Part] = (0..<200).flatMap { _ in [.text("x"), .pause(milliseconds: 20)] }
    let server = try LoopbackServer { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 200\r\n\r\n")] + trickle }
    defer { server.stop() }
    #expect(try await FetchFixture().fault(server.url(), Self.rules) == Self.late)
  }

  @Test func redirectsShareOneLimit() async throws {
    let server = try LoopbackServer { target in
      target == "/list" ? [.pause(milliseconds: 150), .redirect(to: "/next")] : [.pause(milliseconds: 250), .ok()]
    }
    defer { server.stop() }
    #expect(try await FetchFixture().fault(server.url(), Self.rules) == Self.late)
  }

  @Test func aPortWhereNobodyListensIsUnavailable() async throws {
    let server = try LoopbackServer { _ in [] }
    server.stop()
    let url = server.url()
    var fault: FetchError?
    // The listening socket closes a moment later.
    for _ in 0..<500 {
      fault = try await FetchFixture().fault(url, Self.rules)
      if fault == .unavailable("cannot connect to the host") { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    Issue.record("\(String(describing: fault))")
  }

  /// RFC 6761, 6.4: no such name resolves. If no resolver replies, the time limit ends it.
  @Test func aNameThatLeadsNowhereIsUnavailable() async throws {
    let rules = FetchRules(timeLimit: .seconds(2))
    let fault = try await FetchFixture().fault("https://lists.invalid/list", rules)
    #expect([.unavailable("the host's name cannot be resolved"), Self.late].contains(fault))
  }

  @Test func aSilentHostTakesNoPlaceOfOthers() async throws {
    let silent = try LoopbackServer { _ in [.silence] }
    let other = try LoopbackServer { _ in [.ok()] }
    defer {
      silent.stop()
      other.stop()
    }
    let fixture = try FetchFixture()
    let rules = FetchFixture.rules.with { $0.timeLimit = .seconds(3_600) }
    let fetches = Limits.fetches + 4
    let waiting = Task {
      await withTaskGroup(of: FetchError?.self) { group in
        for number in 0..<fetches { group.addTask { await fixture.fault(silent.url("/\(number)"), rules) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    while silent.requests.count < Limits.hostFetches { try await Task.sleep(for: .milliseconds(5)) }
    #expect(try await fixture.outcome(other.url(host: "localhost"), rules).get().bytes == Array("a list".utf8))
    #expect(silent.requests.count == Limits.hostFetches)
    waiting.cancel()
    #expect(await waiting.value == Array(repeating: .unavailable("the fetch was cancelled"), count: fetches))
  }

  @Test func moreThanSoManyOfOneHostDoNotWait() async throws {
    let silent = try LoopbackServer { _ in [.silence] }
    defer { silent.stop() }
    let fixture = try FetchFixture()
    let rules = FetchFixture.rules.with { $0.timeLimit = .seconds(3_600) }
    let extra = 10
    let faults = try await withThrowingTaskGroup(of: FetchError?.self) { group in
      // Fill the slots first, so that no waiting fetch gets one meanwhile.
      for number in 0..<Limits.hostFetches { group.addTask { await fixture.fault(silent.url("/\(number)"), rules) } }
      while silent.requests.count < Limits.hostFetches { try await Task.sleep(for: .milliseconds(5)) }
      for number in 0..<(Limits.waitingHostFetches + extra) {
        group.addTask { await fixture.fault(silent.url("/\(number)"), rules) }
      }
      while fixture.log.counts.unavailable < extra { try await Task.sleep(for: .milliseconds(5)) }
      group.cancelAll()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(faults.count { $0 == .unavailable("too many fetches wait already") } == extra)
  }

  @Test func aCancelledTaskEndsAtOnce() async throws {
    let server = try LoopbackServer { _ in [.silence] }
    defer { server.stop() }
    let fixture = try FetchFixture()
    let rules = FetchFixture.rules.with { $0.timeLimit = .seconds(3_600) }
    let task = Task { await fixture.fault(server.url(), rules) }
    while server.requests.isEmpty { try await Task.sleep(for: .milliseconds(5)) }
    task.cancel()
    #expect(await task.value == .unavailable("the fetch was cancelled"))

    let early = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await fixture.fault(server.url("/early"), rules)
    }
    #expect(await early.value == .unavailable("the fetch was cancelled"))
  }

  /// Several hosts on this machine, since only a few fetches run for each.
  private static func host(_ number: Int) -> String { "host\(number % 16).example" }

  private static func names(of server: LoopbackServer) -> [String] {
    (0..<16).map { "\(host($0)):\(server.port):127.0.0.1" }
  }

  @Test func manyAreFetchedAtATime() async throws {
    let server = try LoopbackServer { target in [.pause(milliseconds: 5), .ok(target)] }
    defer { server.stop() }
    let fixture = try FetchFixture(pinnedNames: Self.names(of: server))
    await withTaskGroup(of: Bool.self) { group in
      for number in 0..<100 {
        group.addTask {
          guard case .success(let list) = await fixture.outcome(server.url("/\(number)", host: Self.host(number)))
          else { return false }
          return list.bytes == Array("/\(number)".utf8)
        }
      }
      for await isRight in group { #expect(isRight) }
    }
    #expect(fixture.log.counts.fetched == 100)
  }

  @Test func moreThanMayWaitAreTurnedAway() async throws {
    let server = try LoopbackServer { _ in [.silence] }
    defer { server.stop() }
    let fixture = try FetchFixture(pinnedNames: Self.names(of: server))
    let rules = FetchFixture.rules.with { $0.timeLimit = .seconds(3_600) }
    let extra = 20
    let turnedAway = try await withThrowingTaskGroup(of: FetchError?.self) { group in
      // Fill the slots first, so that no waiting fetch gets one meanwhile.
      for number in 0..<Limits.fetches {
        group.addTask { await fixture.fault(server.url(host: Self.host(number)), rules) }
      }
      while server.requests.count < Limits.fetches { try await Task.sleep(for: .milliseconds(5)) }
      for number in 0..<(Limits.waitingFetches + extra) {
        group.addTask { await fixture.fault(server.url(host: Self.host(number)), rules) }
      }
      while fixture.log.counts.unavailable < extra { try await Task.sleep(for: .milliseconds(5)) }
      group.cancelAll()
      return try await group.reduce(into: 0) { count, fault in
        if fault == .unavailable("too many fetches wait already") { count += 1 }
      }
    }
    #expect(turnedAway == extra)
  }

  @Test func oneThatWaitsTooLongForItsTurnEnds() async throws {
    let server = try LoopbackServer { _ in [.silence] }
    defer { server.stop() }
    let fixture = try FetchFixture(pinnedNames: Self.names(of: server))
    let patient = FetchFixture.rules.with { $0.timeLimit = .seconds(3_600) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<Limits.fetches {
        group.addTask { _ = await fixture.fault(server.url(host: Self.host(number)), patient) }
      }
      while server.requests.count < Limits.fetches { try await Task.sleep(for: .milliseconds(5)) }
      #expect(await fixture.fault(server.url(), Self.rules) == Self.late)
      group.cancelAll()
    }
    #expect(server.requests.count == Limits.fetches)
  }
}
