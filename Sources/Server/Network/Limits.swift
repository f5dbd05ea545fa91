import Base

/// The bounds of what the server asks of others.
extension Limits {
  /// Of these seconds, how many one connection may take to come about, and how long nothing may arrive.
  package static let fetchConnectSeconds: Int64 = 5
  package static let fetchSilenceSeconds: Int64 = 5
  /// Bytes of the headers of one answer.
  package static let fetchHeaderBytes = 64 << 10
  /// Fetches that run at one time, and that wait for one of these to end; more are turned away.
  package static let fetches = 16
  package static let waitingFetches = 256
  /// Of these, the fetches from one host: a publisher that lets everybody wait must not take all places.
  package static let hostFetches = 4
  package static let waitingHostFetches = 32

  /// Attempts under way at one time: of one endpoint that takes what it gets; the first ones of endpoints; and all that
  /// are not the first of their endpoint, which relying parties share.
  package static let endpointDeliveries = 16
  package static let firstDeliveries = 1_024
  package static let deliveries = 128
}
