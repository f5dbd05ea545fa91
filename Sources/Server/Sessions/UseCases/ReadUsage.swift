import Base

extension VerificationService {
  /// `GET /v1/usage`: a relying party's usage of the store, with its quota.
  package func usage(as caller: Caller) async throws(ServiceError) -> Reply {
    let party = caller.relyingParty
    return Reply(json: UsageView.shape.write(UsageView(used: try await usage(of: party), quota: party.quota)))
  }
}

struct UsageView: Sendable {
  let used: StoreUsage
  let quota: Quota

  private struct Share: Sendable {
    let used: Int64
    let limit: Int64?

    init(_ used: Int64, of limit: Int64?) { (self.used, self.limit) = (used, limit) }
  }

  static let shape = Shape<UsageView>.open(
    "Usage", "The relying party's usage of the store, with its quota.",
    [
      .always("object", { _ in "usage" }, .kind, "`usage`."),
      .always(
        "open_sessions", { Share($0.used.openSessions, of: $0.quota.openSessions) }, share,
        "Sessions that wait for a response."),
      .always(
        "bytes", { Share($0.used.bytes, of: $0.quota.bytes) }, share,
        "Bytes of sessions and of all data stored with them."),
      .always(
        "idempotency_bytes", { Share($0.used.idempotencyBytes, of: $0.quota.idempotencyBytes) }, share,
        "Bytes of replies that are stored under idempotency keys."),
    ])

  /// The largest integer that every client represents exactly.
  private static let number = Shape<Int64>.integer(0...((1 << 53) - 1))

  private static let share = Shape<Share>.open(
    "UsageShare", "A usage and its limit.",
    [
      .always("used", \.used, number, "The usage."),
      .orNull("limit", \.limit, number, "The limit; null if the configuration sets none."),
    ])
}
