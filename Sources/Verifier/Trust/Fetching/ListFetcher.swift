import Base

/// Fetches published lists of any kind as bytes. The caller must not start a second fetch of an address while the first
/// is in progress.
public protocol ListFetcher: Sendable {
  /// Returns within the rules' time limit, and immediately if its task is cancelled.
  func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList
}

/// A publisher's reply. Neither the members nor the bytes are verified.
public struct FetchedList: Sendable, Hashable {
  public let bytes: [UInt8]
  /// `Content-Type` in lower case, without parameters.
  public let mediaType: String?
  /// The lifetime in seconds that the publisher's server states, and its end. Only for the report.
  public let maxAge: Int64?
  public let expires: Timestamp?

  public init(bytes: [UInt8], mediaType: String? = nil, maxAge: Int64? = nil, expires: Timestamp? = nil) {
    self.bytes = bytes
    self.mediaType = mediaType
    self.maxAge = maxAge
    self.expires = expires
  }
}

/// The reason why a fetch returned no list. The reasons are fixed sentences without the address, which may contain a
/// person's name or a password.
public enum FetchError: Error, Sendable, Hashable {
  /// The address, or the target of a redirect, may not be fetched (`list.source_not_allowed`).
  case notAllowed(String)
  /// The reply declares or has more bytes than the rules allow.
  case tooLarge
  /// No complete reply arrived.
  case unavailable(String)

  public var reason: String {
    switch self {
    case .notAllowed(let reason), .unavailable(let reason): reason
    case .tooLarge: "the reply is too large"
    }
  }
}

/// The limits of one fetch. The defaults are for live mode: HTTPS to public addresses on port 443.
public struct FetchRules: Sendable, Hashable {
  /// Plain HTTP is allowed for CRLs at the addresses in certificates (`CRLAddresses.named`). Other lists need
  /// the trust anchor's setting `allow_http`. No redirect leads from HTTPS to HTTP. Lists are signed, but others on the
  /// network path can see who fetched which list.
  public var allowsPlainHTTP: Bool
  /// Whether ports from `Limits.lowestListPort` on are allowed besides the scheme's own port: a certificate may contain
  /// such a port for its authority's revocation list. A redirect may not lead to any other port.
  public var allowsOtherPorts: Bool
  /// Test mode: addresses of this machine are allowed, on any port.
  public var allowsLoopback: Bool
  /// Targets that the operator allows besides public hosts on the standard port.
  public var internalTargets: InternalTargets
  /// The media types to request (`Accept`), best first. Documents never influence them. Empty means any type.
  public var mediaTypes: [String]
  /// Maximum number of bytes of the list, both as received and as decoded.
  public var maximumBytes: Int
  public var maximumRedirects: Int
  /// The time for the whole call, including waiting, name look-ups, connections and redirects.
  public var timeLimit: Duration
  /// Whether to wait until the time limit for a peer that computes without sending.
  public var toleratesSilence = false

  public init(
    allowsPlainHTTP: Bool = false, allowsOtherPorts: Bool = false, allowsLoopback: Bool = false,
    internalTargets: InternalTargets = .none, mediaTypes: [String] = [], maximumBytes: Int = Limits.listBytes,
    maximumRedirects: Int = Limits.fetchRedirects, timeLimit: Duration = .seconds(Limits.fetchSeconds)
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

/// Serves lists by their addresses without a network. It refuses addresses whose text a server would refuse.
public struct StaticListFetcher: ListFetcher {
  private var lists: [String: Result<FetchedList, FetchError>]

  /// Addresses are compared as written, just as the `uri` of a status list is compared with the list's subject.
  public init(_ lists: [String: Result<FetchedList, FetchError>] = [:]) { self.lists = lists }

  /// The list for an address, or the error of its fetch.
  public subscript(address: String) -> Result<FetchedList, FetchError>? {
    get { lists[address] }
    set { lists[address] = newValue }
  }

  public func fetch(_ address: String, allowing rules: FetchRules) async throws(FetchError) -> FetchedList {
    _ = try ListAddress(address, allowing: rules)
    guard let result = lists[address] else { throw .unavailable("no list was given for the address") }
    let list = try result.get()
    guard list.bytes.count <= rules.maximumBytes else { throw .tooLarge }
    return list
  }
}

/// An event during the fetch of a list. No event reveals the publisher.
public enum FetchEvent: Sendable, Hashable {
  /// A list was requested. Before this event nothing leaves the process, not even a name look-up.
  case asked
  /// A socket is opened to an allowed address, once for each redirect and each address of a name.
  case connecting
  case fetched(bytes: Int)
  case failed(FetchError)
}

/// Counts fetches.
public final class FetchLog: Sendable {
  public struct Counts: Sendable, Hashable {
    public internal(set) var asked = 0
    public internal(set) var connections = 0
    public internal(set) var fetched = 0
    public internal(set) var fetchedBytes = 0
    public internal(set) var notAllowed = 0
    public internal(set) var tooLarge = 0
    public internal(set) var unavailable = 0
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
