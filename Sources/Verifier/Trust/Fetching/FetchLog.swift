import Base

/// What happens while a list is fetched, for counters and for tests. No event says whose list it was.
public enum FetchEvent: Sendable, Hashable {
  /// A list was asked for. Without this event nothing has left the process, not even the question for a name.
  case asked
  /// A socket is opened to an address that the rules allow: once a redirect, and once an address of a name.
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

    public init(
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
