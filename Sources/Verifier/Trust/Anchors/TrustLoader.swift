import Base
import Cryptography
import FoundationEssentials
import PKIX

/// Loads trust anchors from every source.
///
/// A file that cannot be read fails the whole load: a typing mistake must not silently change which authorities are
/// trusted. If a list cannot be fetched or is rejected, the last accepted list applies until it expires. After that,
/// none of its anchors is trusted.
public struct TrustLoader: Sendable {
  private let sources: [TrustSource]
  private let defaultDocTypes: [String]?
  private let fetcher: any ListFetcher
  private let rules: FetchRules
  private let memory: AcceptedListFolder?

  /// - Parameters:
  ///   - defaultDocTypes: for anchors in files without settings.
  ///   - memory: the folder of the last accepted lists; nil for a command that reads a list once.
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
        reports.append(SourceReport(name: source.name, outcome: .loaded, anchorCount: loaded.count))
      case .list(let list):
        let (listed, report) = await load(list, of: source.name, at: now)
        anchors += listed
        reports.append(report)
      }
    }
    return TrustLoad(anchors: anchors, sources: reports)
  }

  /// The anchors of the lists in files, and of the last accepted lists. Fetches and stores nothing.
  public func localListedAnchors(at now: Timestamp) -> [TrustAnchor] {
    lists.flatMap { name, list -> [TrustAnchor] in
      let last = try? memory?.last(of: name)
      let bytes =
        switch list.location {
        case .file(let path): FileManager.default.contents(atPath: path).map { [UInt8]($0) }
        case .address: last?.bytes
        }
      return bytes.map { TrustListOutcome($0, as: list.format, after: last, at: now).anchors } ?? []
    }
  }

  /// The paths of configured list files that cannot be read now.
  public var missingLists: [String] {
    lists.compactMap { _, list in
      guard case .file(let path) = list.location, !FileManager.default.isReadableFile(atPath: path) else { return nil }
      return path
    }
  }

  /// True if any list must be fetched: its anchors may be unknown until it is fetched.
  public var fetchesLists: Bool { lists.contains { if case .address = $0.list.location { true } else { false } } }

  private var lists: [(name: String, list: PublishedTrustList)] {
    sources.compactMap { if case .list(let list) = $0.kind { ($0.name, list) } else { nil } }
  }

  // MARK: Published lists

  private func load(
    _ list: PublishedTrustList, of name: String, at now: Timestamp
  ) async -> (anchors: [TrustAnchor], report: SourceReport) {
    var refusal: [Check] = []
    do throws(AcceptedListError) {
      let last = try memory?.last(of: name)
      func outcome(_ bytes: [UInt8]) -> TrustListOutcome {
        TrustListOutcome(bytes, as: list.format, after: last, at: now)
      }
      switch await bytes(at: list.location) {
      case .failure(let error): refusal = [error.check]
      case .success(let bytes):
        let found = outcome(bytes)
        refusal = found.checks
        guard let accepted = found.accepted else { break }
        do throws(AcceptedListError) {
          // The list is stored before anything in it is trusted, so that no older list can later replace it.
          if accepted != last { try memory?.remember(accepted, of: name) }
          return (found.anchors, SourceReport(name, .loaded, found, found.checks))
        } catch {
          refusal = [error.check]
        }
      }
      if let last {
        let kept = outcome(last.bytes)
        if kept.accepted != nil { return (kept.anchors, SourceReport(name, .kept, kept, refusal)) }
      }
    } catch {
      refusal = [error.check]
    }
    return ([], SourceReport(name: name, outcome: .failed, checks: refusal))
  }

  private func bytes(at location: PublishedTrustList.Location) async -> Result<[UInt8], FetchError> {
    switch location {
    case .file(let path):
      // The path is omitted, since API clients see the findings.
      return FileManager.default.contents(atPath: path).map { .success([UInt8]($0)) }
        ?? .failure(.unavailable("the file cannot be read"))
    case .address(let address):
      do throws(FetchError) {
        return .success(try await fetcher.fetch(address, allowing: rules).bytes)
      } catch {
        return .failure(error)
      }
    }
  }
}

extension AcceptedListError {
  fileprivate var check: Check { Check(.listUnavailable, .failed, detail: description) }
}

extension FetchError {
  fileprivate var check: Check {
    switch self {
    case .notAllowed(let reason): Check(.listSourceNotAllowed, .failed, detail: reason)
    case .tooLarge: Check(.listTooLarge, .failed)
    case .unavailable(let reason): Check(.listUnavailable, .failed, detail: reason)
    }
  }
}

extension SourceReport {
  fileprivate init(_ name: String, _ outcome: Outcome, _ list: TrustListOutcome, _ checks: [Check]) {
    self.init(
      name: name, outcome: outcome, anchorCount: list.anchors.count, leftOut: list.leftOut, checks: checks,
      validUntil: list.validUntil)
  }
}

/// A source of trust anchors, with a name.
public struct TrustSource: Sendable {
  /// The name for display and for storing the last list: letters, digits, `-`, `_` and `.`.
  public let name: String
  public let kind: Kind

  public enum Kind: Sendable {
    /// PEM or DER files and folders of them. `crlAddresses` is the default for authorities whose settings do not
    /// mention it.
    case files([String], crlAddresses: CRLAddresses = .named)
    case list(PublishedTrustList)
  }

  public init(name: String, _ kind: Kind) {
    self.name = name
    self.kind = kind
  }
}

/// A list of anchors that a third party publishes and signs.
public struct PublishedTrustList: Sendable {
  public let location: Location
  public let format: Format

  public enum Location: Sendable, Hashable { case file(String), address(String) }

  public enum Format: Sendable { case vical(TrustListSource), trustedEntities(TrustedEntityListSource) }

  public init(_ location: Location, _ format: Format) {
    self.location = location
    self.format = format
  }
}

/// The result of loading every source.
public struct TrustLoad: Sendable {
  public let anchors: [TrustAnchor]
  public let sources: [SourceReport]
}

/// The result of loading one source. It holds nothing personal.
public struct SourceReport: Sendable, Hashable {
  public enum Outcome: String, Sendable, Hashable {
    case loaded
    /// The newest list could not be fetched or was refused. The last accepted list is still current and in use.
    case kept
    case failed
  }

  public let name: String
  public let outcome: Outcome
  public internal(set) var anchorCount = 0
  /// The number of unusable entries of the list. The checks give the reasons.
  public internal(set) var leftOut = 0
  /// The findings about the list; empty for files.
  public internal(set) var checks: [Check] = []
  /// The last instant at which the list may be used; nil for files.
  public internal(set) var validUntil: Timestamp?

  /// The reason why the source did not load properly, for a log.
  public var problem: String {
    "trust source \"\(name)\" \(outcome.rawValue): \(reasons { $0.outcome == .failed })"
  }

  /// The number of omitted entries of a list in use, as text for a log; nil if no entry is omitted.
  public var omission: String? {
    guard leftOut > 0, outcome != .failed else { return nil }
    return "trust source \"\(name)\": \(leftOut) entries omitted, \(anchorCount) anchors kept: "
      + reasons { $0.outcome == .warning && $0.code != .listDeviation }
  }

  private func reasons(_ isReason: (Check) -> Bool) -> String {
    checks.filter(isReason).map { $0.code.rawValue + ($0.detail.map { " (\($0))" } ?? "") }.joined(separator: ", ")
  }
}
