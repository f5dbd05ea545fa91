import Base

/// Reads a signed list of trusted entities: a compact JWS by JAdES baseline B (ETSI TS 119 602, 6.8; ETSI TS 119 182-1),
/// and what it makes trusted. A pure function of the bytes, the configured source and the time.
public struct TrustedEntityListReader: Sendable {
  public let source: TrustedEntityListSource

  public init(source: TrustedEntityListSource) { self.source = source }

  /// - Parameter last: what was remembered of the last list that was accepted from this source.
  public func evaluate(
    _ bytes: [UInt8], at now: Timestamp, after last: TrustedEntityListEvaluation.LastAccepted? = nil
  ) -> TrustedEntityListEvaluation {
    var run = TrustedEntityListRun(source: source, now: now, last: last)
    return run.evaluate(bytes)
  }
}
