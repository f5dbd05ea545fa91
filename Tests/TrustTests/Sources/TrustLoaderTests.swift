import Base
import FoundationEssentials
import PKIX
import Testing

@testable import Mock
@testable import Trust

/// Anchors from several sources: a broken file stops the load, and a rejected list changes nothing.
@Suite struct TrustLoaderTests {
  private static let address = "https://vical.example/list"
  private let fixture: TrustFixture
  private var now: Timestamp { fixture.now }
  private var memory: AcceptedListFolder { AcceptedListFolder(fixture.folder + "/state") }

  init() throws { fixture = try TrustFixture() }

  private func vical(_ name: String = "vical-good", at time: Timestamp? = nil) throws -> [UInt8] {
    try #require(MockList.named(name)).published(by: fixture.authority, now: time ?? now)
  }

  private func lote(_ name: String = "lote", at time: Timestamp? = nil) throws -> [UInt8] {
    try #require(MockList.named(name)).published(by: fixture.authority, now: time ?? now)
  }

  private func vicalSource(_ place: PublishedTrustList.Location = .address(address)) throws -> TrustSource {
    let root = try Certificate(der: MockList.Kind.vical.signerAnchor(of: fixture.authority, at: now))
    let signers = SignerPath.Anchors(configured: [root], allowsTestCertificates: true)
    return TrustSource(name: "mock", .list(PublishedTrustList(place, .vical(TrustListSource(signers: signers)))))
  }

  private func loteSource() throws -> TrustSource {
    let root = try Certificate(der: MockList.Kind.trustedEntities.signerAnchor(of: fixture.authority, at: now))
    let source = TrustedEntityListSource(
      TrustListSource(signers: .init(configured: [root], allowsTestCertificates: true)),
      issuance: [MockList.issuanceService: MockList.docTypes])
    return TrustSource(name: "mock", .list(PublishedTrustList(.address(Self.address), .trustedEntities(source))))
  }

  private func load(
    _ answer: Result<[UInt8], FetchError>, _ source: TrustSource? = nil, at time: Timestamp? = nil,
    memory: AcceptedListFolder?
  ) async throws -> TrustLoad {
    let lists = StaticListFetcher([Self.address: answer.map { FetchedList(bytes: $0) }])
    let loader = TrustLoader(
      sources: [try source ?? vicalSource()], defaultDocTypes: nil, fetcher: lists, memory: memory)
    return try await loader.load(at: time ?? now)
  }

  private func outcome(_ load: TrustLoad) -> SourceReport.Outcome? { load.sources.first?.outcome }

  private func failed(_ load: TrustLoad) -> [Code] {
    (load.sources.first?.checks ?? []).filter { $0.outcome == .failed }.map(\.code)
  }

  // MARK: Files

  @Test func `A file that can't be read fails the whole load`() async throws {
    try fixture.write(fixture.rootDER(), to: "root.der")
    let good = TrustSource(name: "files", .files([fixture.folder + "/root.der"]))
    let broken = TrustSource(name: "broken", .files([fixture.folder + "/absent.pem"]))
    let loader = TrustLoader(sources: [good, broken], defaultDocTypes: nil, fetcher: StaticListFetcher(), memory: nil)
    await #expect(throws: TrustLoadError.self) { try await loader.load(at: now) }
    let alone = TrustLoader(sources: [good], defaultDocTypes: ["a"], fetcher: StaticListFetcher(), memory: nil)
    let load = try await alone.load(at: now)
    #expect(load.anchors.map(\.docTypes) == [["a"]])
    #expect(load.sources.map(\.outcome) == [.loaded] && load.sources.map(\.anchorCount) == [1])
  }

  @Test func `A list in a file is read like one from an address`() async throws {
    try fixture.write(vical(), to: "vical.cbor")
    let there = try await load(
      .failure(.tooLarge), vicalSource(.file(fixture.folder + "/vical.cbor")), memory: memory)
    #expect(outcome(there) == .loaded && there.anchors.count == 2)
    // A missing list is not a mistake in the configuration: the last accepted list remains in force.
    let gone = try await load(.failure(.tooLarge), vicalSource(.file(fixture.folder + "/gone")), memory: memory)
    #expect(outcome(gone) == .kept && gone.anchors.count == 2)
    #expect(failed(gone) == [.listUnavailable])
  }

  // MARK: Lists

  @Test func `What a list makes trusted ends with the list`() async throws {
    let load = try await load(.success(vical()), memory: memory)
    let end = Timestamp(date: now.date) + 2 * 86_400
    #expect(load.anchors.map(\.trustedUntil) == [end, end])
    #expect(load.sources.first?.validUntil == end && outcome(load) == .loaded)
    #expect(try memory.last(of: "mock")?.bytes == vical())
  }

  @Test(arguments: [
    (FetchError.unavailable("down"), Code.listUnavailable), (.tooLarge, .listTooLarge),
    (.notAllowed("private"), .listSourceNotAllowed),
  ])
  func `A list that can't be had makes nobody trusted, or keeps the last one`(
    error: FetchError, code: Code
  ) async throws {
    let nothing = try await load(.failure(error), memory: memory)
    #expect(nothing.anchors.isEmpty && outcome(nothing) == .failed)
    #expect(failed(nothing) == [code])
    _ = try await load(.success(vical()), memory: memory)
    let kept = try await load(.failure(error), memory: memory)
    #expect(kept.anchors.count == 2 && outcome(kept) == .kept)
    #expect(failed(kept) == [code])
  }

  @Test func `A list that is refused keeps the last one until that expires, and then nothing`() async throws {
    _ = try await load(.success(vical()), memory: memory)
    let wrong = Array(try vical().dropLast()) + [0]
    let end = Timestamp(date: now.date) + 2 * 86_400
    let kept = try await load(.success(wrong), at: end, memory: memory)
    #expect(kept.anchors.count == 2 && outcome(kept) == .kept)
    #expect(failed(kept) == [.listSignatureInvalid])
    let over = try await load(.success(wrong), at: end + 1, memory: memory)
    #expect(over.anchors.isEmpty && outcome(over) == .failed)
    #expect(over.sources.first?.validUntil == nil)
    #expect(try memory.last(of: "mock")?.bytes == vical())
  }

  @Test func `An older list is refused after a restart, too`() async throws {
    for (older, newer, source) in [
      (try vical(at: now - 86_400), try vical(), try vicalSource()),
      (try lote(at: now - 86_400), try lote(), try loteSource()),
    ] {
      let memory = AcceptedListFolder(fixture.folder + "/state-\(UInt64.random(in: 0 ... .max))")
      let before = try await load(.success(older), source, memory: memory)
      #expect(outcome(before) == .loaded)
      _ = try await load(.success(newer), source, memory: memory)
      let after = try await load(.success(older), source, memory: memory)
      #expect(failed(after) == [.listRollback] && outcome(after) == .kept)
      #expect(try memory.last(of: "mock")?.bytes == newer)
      // Without a memory, this cannot be known.
      #expect(outcome(try await load(.success(older), source, memory: nil)) == .loaded)
    }
  }

  @Test func `A list that can't be remembered is not adopted`() async throws {
    try fixture.write("no folder", to: "file")
    let unwritable = AcceptedListFolder(fixture.folder + "/missing/state")
    let load = try await load(.success(vical()), memory: unwritable)
    #expect(load.anchors.isEmpty && outcome(load) == .failed)
    #expect(failed(load) == [.listUnavailable])
    let unreadable = AcceptedListFolder(fixture.folder + "/file")
    let other = try await self.load(.success(vical()), memory: unreadable)
    #expect(other.anchors.isEmpty && failed(other) == [.listUnavailable])
  }

  @Test func `A damaged memory makes nobody trusted until it is restored`() async throws {
    _ = try await load(.success(vical()), memory: memory)
    let file = URL(filePath: fixture.folder + "/state/mock.accepted")
    let good = try Data(contentsOf: file)
    try good.dropLast().write(to: file)
    let damaged = try await load(.success(vical()), memory: memory)
    #expect(damaged.anchors.isEmpty && failed(damaged) == [.listUnavailable])
    try good.write(to: file)
    #expect(outcome(try await load(.success(vical()), memory: memory)) == .loaded)
  }

  @Test func `The last list does not count where its signer is no longer configured`() async throws {
    _ = try await load(.success(vical()), memory: memory)
    let signers = SignerPath.Anchors(configured: [], allowsTestCertificates: true)
    let source = TrustSource(
      name: "mock", .list(PublishedTrustList(.address(Self.address), .vical(TrustListSource(signers: signers)))))
    let load = try await load(.failure(.tooLarge), source, memory: memory)
    #expect(load.anchors.isEmpty && outcome(load) == .failed)
  }
}
