import Base

/// What one fetch may do. The default is what live mode allows: HTTPS to public addresses on port 443.
public struct FetchRules: Sendable, Hashable {
  /// Plain HTTP: for revocation lists, and for others where the trust anchor's settings say so. What is fetched is
  /// signed in itself, but who asked for which list then shows on the way. HTTPS is never left for it by a redirect.
  public var allowsPlainHTTP: Bool
  /// Any port from `Limits.lowestListPort` on, beside the scheme's own: where a certificate names one for its authority's
  /// revocation list. A redirect leads to no other than the one that was named.
  public var allowsOtherPorts: Bool
  /// Test mode: addresses of this machine, there on any port.
  public var allowsLoopback: Bool
  /// What the operator allows beside public hosts on the standard port.
  public var internalTargets: InternalTargets
  /// What is asked for (`Accept`), best first, for publishers that have one list in several forms. Written by us, never
  /// taken from a document. Empty: anything.
  public var mediaTypes: [String]
  /// Bytes of the list, counted as they come and again as they are decoded.
  public var maximumBytes: Int
  public var maximumRedirects: Int
  /// From the call to its end: waiting, names, connections, redirects and all.
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
