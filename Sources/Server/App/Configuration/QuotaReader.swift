import Base
import Sessions

/// Reads `quota` of a relying party.
///
/// ```json
/// { "quota": { "open_sessions": 50000, "bytes": 8589934592, "idempotency_bytes": false } }
/// ```
/// A member that is absent has its default, one that is `false` no bound.
struct QuotaReader {
  static let numbers: ClosedRange<Int64> = 1...(1 << 50)

  func quota(_ party: ConfigurationReader) throws(StartError) -> Quota {
    guard let quota = try party.object("quota", known: ConfigurationTables.quota.names) else { return .standard }
    return Quota(
      openSessions: try number("open_sessions", of: quota, default: Limits.openSessions),
      bytes: try number("bytes", of: quota, default: Limits.storedBytes),
      idempotencyBytes: try number("idempotency_bytes", of: quota, default: Limits.idempotencyBytes))
  }

  private func number(
    _ name: String, of quota: ConfigurationReader, default standard: Int64
  ) throws(StartError) -> Int64? {
    if quota.value(name)?.bool == false { return nil }
    return try quota.integer(name, in: Self.numbers, default: standard)
  }
}
