import Base

/// The trust store that is in force. It is replaced as a whole: whoever verifies takes the store once and keeps it to the
/// end, so that no verdict rests on parts of two.
public final class TrustInForce: Sendable {
  private let store: Locked<TrustStore>

  public init(_ store: TrustStore) { self.store = Locked(store) }

  public var current: TrustStore { store.withLock { $0 } }

  /// Verifications under way end with the store that they began with.
  public func replace(by store: TrustStore) { self.store.withLock { $0 = store } }
}
