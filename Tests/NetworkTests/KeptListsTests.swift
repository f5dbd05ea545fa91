import Testing
import Trust

/// Lists without a network.
@Suite struct KeptListsTests {
  private static let address = "https://lists.example/list"

  private func fault(_ lists: KeptLists, _ address: String, _ rules: FetchRules = FetchRules()) async -> FetchError? {
    do {
      _ = try await lists.fetch(address, allowing: rules)
      return nil
    } catch {
      return error
    }
  }

  @Test func whatWasGivenIsAnswered() async throws {
    let log = FetchLog()
    var lists = KeptLists([Self.address: .success(FetchedList(bytes: [1, 2, 3]))], observer: log)
    lists["https://lists.example/fault"] = .failure(.unavailable("the test says so"))
    #expect(try await lists.fetch(Self.address, allowing: FetchRules()).bytes == [1, 2, 3])
    #expect(await fault(lists, "https://lists.example/fault") == .unavailable("the test says so"))
    #expect(
      await fault(lists, "https://lists.example/other") == .unavailable("no list was given for the address"))
    #expect(log.counts == .init(asked: 3, fetched: 1, fetchedBytes: 3, unavailable: 2))
  }

  @Test func theRulesHoldHereToo() async {
    var lists = KeptLists([Self.address: .success(FetchedList(bytes: [1, 2, 3]))])
    #expect(await fault(lists, Self.address, FetchRules(maximumBytes: 2)) == .tooLarge)
    for address in ["http://lists.example/list", "https://127.0.0.1/list", "https://lists.example:8443/list"] {
      lists[address] = .success(FetchedList(bytes: [1]))
      guard case .notAllowed = await fault(lists, address) else {
        Issue.record("\(address) was answered")
        continue
      }
    }
  }
}
