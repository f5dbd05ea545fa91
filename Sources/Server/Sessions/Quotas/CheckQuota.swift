import Base

extension ServiceContext {
  /// Throws `api.quota_exceeded` where the relying party may make no new session, or have no new reply kept.
  func checkQuota(of party: RelyingParty, forSession: Bool) async throws(ServiceError) {
    guard let excess = await excess(of: party, forSession: forSession) else { return }
    throw ServiceError(
      .apiQuotaExceeded, "The relying party has its quota of \(excess).", retryAfter: Int(Limits.quotaRetry))
  }

  /// What of its quota is used up, by a count that is new.
  func excess(of party: RelyingParty, forSession: Bool) async -> String? {
    guard let excess = party.quota.excess(of: usage.estimate(of: party.id), forSession: forSession) else { return nil }
    let now = clock()
    guard usage.isStale(party.id, at: now) else { return excess }
    await count(party.id, at: now)
    return party.quota.excess(of: usage.estimate(of: party.id), forSession: forSession)
  }

  /// A count that fails leaves what was believed before.
  fileprivate func count(_ party: String, at now: Timestamp) async {
    try? await usage.count(party, at: now) { () async throws(StoreError) in
      try await store.usage(of: party, at: now)
    }
  }
}

/// Counts what relying parties have in the store, now and then, beside their requests.
struct MeasureUsage {
  let context: ServiceContext

  func run() async {
    for party in context.relyingParties.all {
      let now = context.clock()
      if context.usage.isDue(party.id, at: now) { await context.count(party.id, at: now) }
    }
  }
}

extension JSON {
  /// The bytes of its text, without what escapes add.
  var plainBytes: Int {
    switch self {
    case .object(let members): members.reduce(2) { $0 + $1.name.utf8.count + 4 + $1.value.plainBytes }
    case .array(let elements): elements.reduce(2) { $0 + 1 + $1.plainBytes }
    case .string(let text): text.utf8.count + 2
    case .integer, .double: 8
    case .bool, .null: 4
    case .written(let text): text.bytes.count
    }
  }
}
