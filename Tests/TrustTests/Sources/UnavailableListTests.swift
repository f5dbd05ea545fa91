import Base
import PKIX
import Testing
import Trust

@testable import Mock

/// Lists that sources name: their permitted addresses, and the anchors in force while a list is unavailable.
@Suite struct UnavailableListTests {
  let fixture: TrustFixture

  init() throws { fixture = try TrustFixture() }

  @Test func aListIsNotFetchedFromEverywhere() async throws {
    for address in ["file:///etc/vical", "http://vical.mdoc-mock.invalid/", "https://127.0.0.1/", "https://10.0.0.1/"] {
      let report = try await load(address, StaticListFetcher([address: .success(try good())]))
      #expect(report.outcome == .failed && report.anchorCount == 0)
      #expect(report.checks.codes(.failed) == [.listSourceNotAllowed], "\(address)")
      let check = report.checks.first { $0.outcome == .failed }
      #expect(["the address", "no public", "https"].contains { check?.detail?.contains($0) == true }, "\(address)")
    }
  }

  @Test func aListThatCannotBeHadTrustsNobody() async throws {
    let report = try await load(Self.address, StaticListFetcher())
    #expect(report.outcome == .failed && report.anchorCount == 0)
    #expect(report.checks.codes(.failed) == [.listUnavailable])
    #expect(report.checks.first { $0.outcome == .failed }?.detail?.isEmpty == false)
    let tooLarge = try await load(Self.address, StaticListFetcher([Self.address: .failure(.tooLarge)]))
    #expect(tooLarge.checks.codes(.failed) == [.listTooLarge])
    let loaded = try await load(Self.address, StaticListFetcher([Self.address: .success(try good())]))
    #expect(loaded.outcome == .loaded && loaded.anchorCount == 2)
  }

  @Test func theLastAcceptedListCountsUntilItExpires() async throws {
    let memory = AcceptedListFolder("\(fixture.folder)/accepted")
    let kept = StaticListFetcher([Self.address: .success(try good())])
    #expect(try await load(Self.address, kept, memory: memory).outcome == .loaded)
    let later = try await load(Self.address, StaticListFetcher(), memory: memory, at: fixture.now + 3_600)
    #expect(later.outcome == .kept && later.anchorCount == 2)
    #expect(later.checks.codes(.failed) == [.listUnavailable])
    let afterEnd = try await load(Self.address, StaticListFetcher(), memory: memory, at: fixture.now + 3 * 86_400)
    #expect(afterEnd.outcome == .failed && afterEnd.anchorCount == 0)
  }

  private static let address = "https://vical.mdoc-mock.invalid/"

  private func good() throws -> FetchedList {
    FetchedList(bytes: try MockList.good(.vical).published(by: fixture.authority, now: fixture.now))
  }

  private func load(
    _ address: String, _ fetcher: StaticListFetcher, memory: AcceptedListFolder? = nil, at now: Timestamp? = nil
  ) async throws -> SourceReport {
    let root = try Certificate(der: MockList.Kind.vical.signerAnchor(of: fixture.authority, at: fixture.now))
    let source = TrustListSource(signers: .init(authorities: [root], allowsTestCertificates: true), tier: .test)
    let loader = TrustLoader(
      sources: [TrustSource(name: "mock", .list(PublishedTrustList(.address(address), .vical(source))))],
      defaultDocTypes: nil, fetcher: fetcher, memory: memory)
    return try #require(try await loader.load(at: now ?? fixture.now).sources.first)
  }
}
