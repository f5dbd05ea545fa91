import Base
import Cryptography
import FoundationEssentials
import PKIX

/// Loads trust anchors from every source.
///
/// A file that can't be read fails the whole load: a typing mistake must not quietly change whom we trust. A list that
/// can't be fetched, or is refused, does not fail it: the last accepted list counts until it expires, and after that
/// none of its anchors is trusted.
public struct TrustLoader: Sendable {
  private let sources: [TrustSource]
  private let defaultDocTypes: [String]?
  private let fetcher: any ListFetcher
  private let rules: FetchRules
  private let memory: AcceptedListFolder?

  /// - Parameters:
  ///   - defaultDocTypes: for anchors in files without settings.
  ///   - memory: the folder of the last accepted lists; nil means none, as for one command that reads a list once.
  public init(
    sources: [TrustSource], defaultDocTypes: [String]?, fetcher: any ListFetcher, rules: FetchRules = FetchRules(),
    memory: AcceptedListFolder?
  ) {
    self.sources = sources
    self.defaultDocTypes = defaultDocTypes
    self.fetcher = fetcher
    self.rules = rules
    self.memory = memory
  }

  public func load(at now: Timestamp) async throws(TrustLoadError) -> TrustLoad {
    var anchors: [TrustAnchor] = []
    var reports: [SourceReport] = []
    for source in sources {
      switch source.kind {
      case .files(let paths, let crlAddresses):
        let loaded = try TrustAnchorLoader(defaultDocTypes: defaultDocTypes, crlAddresses: crlAddresses).load(paths)
        anchors += loaded
        reports.append(
          SourceReport(
            name: source.name, outcome: .loaded, anchorCount: loaded.count, leftOut: 0, checks: [], validUntil: nil))
      case .list(let list):
        let loaded = await load(list, of: source.name, at: now)
        anchors += loaded.anchors
        reports.append(loaded.report)
      }
    }
    return TrustLoad(anchors: anchors, sources: reports)
  }

  /// The anchors of the lists that are already here: in files, and among the lists that were accepted last. It fetches
  /// nothing and stores nothing.
  public func listedAnchorsAtHand(at now: Timestamp) -> [TrustAnchor] {
    sources.flatMap { source -> [TrustAnchor] in
      guard case .list(let list) = source.kind else { return [] }
      let last = try? memory?.last(of: source.name)
      let bytes: [UInt8]? =
        switch list.place {
        case .file(let path): FileManager.default.contents(atPath: path).map { [UInt8]($0) }
        case .address: last?.bytes
        }
      return bytes.map { TrustListOutcome($0, as: list.format, after: last, at: now).anchors } ?? []
    }
  }

  /// The paths of configured list files that can't be read now.
  public var missingLists: [String] {
    sources.compactMap { source in
      guard case .list(let list) = source.kind, case .file(let path) = list.place,
        !FileManager.default.isReadableFile(atPath: path)
      else { return nil }
      return path
    }
  }

  /// Whether a list is fetched. Its anchors may then not be known before.
  public var fetchesLists: Bool {
    sources.contains { source in
      guard case .list(let list) = source.kind, case .address = list.place else { return false }
      return true
    }
  }

  // MARK: Published lists

  private struct LoadedList {
    let anchors: [TrustAnchor]
    let report: SourceReport
  }

  private func load(_ list: PublishedTrustList, of name: String, at now: Timestamp) async -> LoadedList {
    let last: AcceptedListFolder.Accepted?
    do throws(AcceptedListFolder.Fault) {
      last = try memory?.last(of: name)
    } catch {
      return refused(name, [Check(.listUnavailable, .failed, detail: error.description)])
    }
    let refusal: [Check]
    do throws(ListRefusal) {
      let reading = TrustListOutcome(try await bytes(at: list.place), as: list.format, after: last, at: now)
      guard let accepted = reading.accepted else { throw ListRefusal(reading.checks) }
      // The list is stored before anything in it is trusted, so that no older list can later replace it.
      if accepted != last { try remember(accepted, of: name) }
      return LoadedList(anchors: reading.anchors, report: reading.report(name, .loaded, reading.checks))
    } catch {
      refusal = error.checks
    }
    guard let last else { return refused(name, refusal) }
    let kept = TrustListOutcome(last.bytes, as: list.format, after: last, at: now)
    guard kept.accepted != nil else { return refused(name, refusal) }
    return LoadedList(anchors: kept.anchors, report: kept.report(name, .kept, refusal))
  }

  private func remember(_ accepted: AcceptedListFolder.Accepted, of name: String) throws(ListRefusal) {
    do throws(AcceptedListFolder.Fault) {
      try memory?.remember(accepted, of: name)
    } catch {
      throw ListRefusal([Check(.listUnavailable, .failed, detail: error.description)])
    }
  }

  private func refused(_ name: String, _ checks: [Check]) -> LoadedList {
    LoadedList(
      anchors: [],
      report: SourceReport(name: name, outcome: .failed, anchorCount: 0, leftOut: 0, checks: checks, validUntil: nil))
  }

  private func bytes(at place: PublishedTrustList.Place) async throws(ListRefusal) -> [UInt8] {
    switch place {
    case .file(let path):
      guard let data = FileManager.default.contents(atPath: path) else {
        // The path is left out, because clients of the API see the findings.
        throw ListRefusal([Check(.listUnavailable, .failed, detail: "the file can't be read")])
      }
      return [UInt8](data)
    case .address(let address):
      do throws(FetchError) {
        return try await fetcher.fetch(address, allowing: rules).bytes
      } catch {
        switch error {
        case .notAllowed(let reason): throw ListRefusal([Check(.listSourceNotAllowed, .failed, detail: reason)])
        case .tooLarge: throw ListRefusal([Check(.listTooLarge, .failed)])
        case .unavailable(let reason): throw ListRefusal([Check(.listUnavailable, .failed, detail: reason)])
        }
      }
    }
  }

  /// Why the list that is published now is not used.
  private struct ListRefusal: Error {
    let checks: [Check]
    init(_ checks: [Check]) { self.checks = checks }
  }
}
