import Base

/// Fetches published lists: revocation lists, status lists, VICALs, lists of trusted entities.
///
/// A fetcher brings bytes, and neither judges nor keeps them. Its caller decides how long a list is good, and sees to
/// it that one address is fetched once at a time.
public protocol ListFetcher: Sendable {
  /// It ends within the rules' time limit, and at once if its task is cancelled.
  func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList
}

/// What a publisher sent. Every member is as unverified as the bytes.
public struct FetchedList: Sendable, Hashable {
  public let bytes: [UInt8]
  /// `Content-Type` in lower case, without parameters.
  public let mediaType: String?
  /// How long the publisher's server asks to keep the list, in seconds, and until when. They are only for the report:
  /// the list's own signed lifetime counts.
  public let maxAge: Int64?
  public let expires: Timestamp?

  public init(bytes: [UInt8], mediaType: String? = nil, maxAge: Int64? = nil, expires: Timestamp? = nil) {
    self.bytes = bytes
    self.mediaType = mediaType
    self.maxAge = maxAge
    self.expires = expires
  }
}

/// Why there is no list. The reasons are fixed sentences: they never carry any part of the address, which may name a
/// person or hold a password.
public enum FetchError: Error, Sendable, Hashable {
  /// The address, or one that it redirects to, may not be fetched (`revocation.source_not_allowed`,
  /// `list.source_not_allowed`).
  case notAllowed(String)
  /// More bytes than the rules allow, declared or sent.
  case tooLarge
  /// No complete answer came.
  case unavailable(String)
}

/// What one fetch may do. The default is what live mode allows: HTTPS to public addresses on port 443.
public struct FetchRules: Sendable, Hashable {
  /// Whether plain HTTP is allowed: for revocation lists, and for others if the trust anchor's settings say so. A
  /// list is signed in itself, but over HTTP others on the way see who asked for which list. No redirect leads from
  /// HTTPS to HTTP.
  public var allowsPlainHTTP: Bool
  /// Whether any port from `Limits.lowestListPort` on is allowed beside the scheme's own: a certificate may name one
  /// for its authority's revocation list. A redirect may not lead to a port that was not named.
  public var allowsOtherPorts: Bool
  /// Test mode: addresses of this machine are allowed, on any port.
  public var allowsLoopback: Bool
  /// Targets that the operator allows beside public hosts on the standard port.
  public var internalTargets: InternalTargets
  /// The media types to ask for (`Accept`), best first, for publishers that have a list in several forms. We write
  /// them; they never come from a document. Empty means any.
  public var mediaTypes: [String]
  /// Bytes of the list, counted as they come and again as they are decoded.
  public var maximumBytes: Int
  public var maximumRedirects: Int
  /// The time from the call to its end, with waiting, name look-ups, connections and redirects.
  public var timeLimit: Duration

  public init(
    allowsPlainHTTP: Bool = false, allowsOtherPorts: Bool = false, allowsLoopback: Bool = false,
    internalTargets: InternalTargets = .none,
    mediaTypes: [String] = [],
    maximumBytes: Int = Limits.listBytes, maximumRedirects: Int = Limits.fetchRedirects,
    timeLimit: Duration = .seconds(Limits.fetchSeconds)
  ) {
    self.allowsPlainHTTP = allowsPlainHTTP
    self.allowsOtherPorts = allowsOtherPorts
    self.allowsLoopback = allowsLoopback
    self.internalTargets = internalTargets
    self.mediaTypes = mediaTypes
    self.maximumBytes = maximumBytes
    self.maximumRedirects = maximumRedirects
    self.timeLimit = timeLimit
  }
}

/// Lists that are already here, under the address that each would be fetched from: for verification without a network.
///
/// It applies the rules of a real fetch as far as that is possible without a connection, so that it refuses every
/// address that a server would refuse for its text.
public struct StaticListFetcher: ListFetcher {
  private var answers: [String: Result<FetchedList, FetchError>]
  private let observer: (any FetchObserver)?

  /// The addresses are compared as they are written, like the `uri` of a status list with its subject.
  public init(_ answers: [String: Result<FetchedList, FetchError>] = [:], observer: (any FetchObserver)? = nil) {
    self.answers = answers
    self.observer = observer
  }

  /// The answer for an address: a list or a fault.
  public subscript(address: String) -> Result<FetchedList, FetchError>? {
    get { answers[address] }
    set { answers[address] = newValue }
  }

  public func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList {
    observer?.observe(.asked)
    let answer = answer(to: address, allowing: rules)
    switch answer {
    case .success(let list): observer?.observe(.fetched(bytes: list.bytes.count))
    case .failure(let error): observer?.observe(.failed(error))
    }
    return try answer.get()
  }

  private func answer(to address: String, allowing rules: FetchRules) -> Result<FetchedList, FetchError> {
    do { _ = try ListAddress(address, allowing: rules) } catch { return .failure(error) }
    guard let answer = answers[address] else { return .failure(.unavailable("no list was given for the address")) }
    if case .success(let list) = answer, list.bytes.count > rules.maximumBytes { return .failure(.tooLarge) }
    return answer
  }
}

/// An event while a list is fetched, for counters and for tests. No event says whose list it was.
public enum FetchEvent: Sendable, Hashable {
  /// A list was asked for. Before this event nothing has left the process, not even a query for a name.
  case asked
  /// A socket is opened to an address that the rules allow: once for each redirect and each address of a name.
  case connecting
  case fetched(bytes: Int)
  case failed(FetchError)
}

/// Hears of every fetch, on whichever thread it happens.
public protocol FetchObserver: Sendable {
  func observe(_ event: FetchEvent)
}

/// Counts fetches.
public final class FetchLog: FetchObserver {
  public struct Counts: Sendable, Hashable {
    public var asked: Int
    public var connections: Int
    public var fetched: Int
    public var fetchedBytes: Int
    public var notAllowed: Int
    public var tooLarge: Int
    public var unavailable: Int

    package init(
      asked: Int = 0, connections: Int = 0, fetched: Int = 0, fetchedBytes: Int = 0, notAllowed: Int = 0,
      tooLarge: Int = 0, unavailable: Int = 0
    ) {
      self.asked = asked
      self.connections = connections
      self.fetched = fetched
      self.fetchedBytes = fetchedBytes
      self.notAllowed = notAllowed
      self.tooLarge = tooLarge
      self.unavailable = unavailable
    }
  }

  private let counted = Locked(Counts())

  public init() {}

  public var counts: Counts { counted.withLock { $0 } }

  public func observe(_ event: FetchEvent) {
    counted.withLock { counts in
      switch event {
      case .asked: counts.asked += 1
      case .connecting: counts.connections += 1
      case .fetched(let bytes):
        counts.fetched += 1
        counts.fetchedBytes += bytes
      case .failed(.notAllowed): counts.notAllowed += 1
      case .failed(.tooLarge): counts.tooLarge += 1
      case .failed(.unavailable): counts.unavailable += 1
      }
    }
  }
}
