import Base
import Sessions

/// A store that lasts as long as the process, for tests. It follows the same rules as the other stores, but a restart
/// forgets every challenge.
package final class InMemoryStore: SessionStore {
  package let mode: ServerMode
  private let state: Locked<Contents>

  struct Contents {
    var sessions: [SessionID: SessionRecord] = [:]
    var evidence: [SessionID: [UInt8]] = [:]
    /// In order of creation.
    var order: [SessionID] = []
    var verifications: [(outcome: AttemptOutcome, time: Timestamp)] = []
    var keys: [[UInt8]: Key] = [:]
    var outbox = InMemoryOutbox()
    var audit: InMemoryAudit
    var isClosed = false
  }

  struct Key {
    var claim: IdempotencyClaim
    var begun: Timestamp
    var reply: StoredReply?
  }

  package init(mode: ServerMode = .test, node: NodeName = .standard) {
    self.mode = mode
    state = Locked(Contents(audit: InMemoryAudit(node: node, mode: mode)))
  }

  func locked<Result: Sendable>(
    _ body: (inout sending Contents) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let result: Swift.Result<Result, StoreError> = state.withLock { contents in
      guard !contents.isClosed else { return .failure(.closed) }
      do throws(StoreError) { return .success(try body(&contents)) } catch { return .failure(error) }
    }
    return try result.get()
  }

  package func observed(by observer: any StoreObserver) -> any SessionStore { self }

  // MARK: Sessions

  package func create(
    _ session: SessionRecord, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) {
    try locked { contents throws(StoreError) in
      guard contents.sessions[session.address.id] == nil else { throw .corrupt("a session id that exists") }
      contents.sessions[session.address.id] = session
      contents.order.append(session.address.id)
      contents.finish(completion)
    }
  }

  package func consume(
    _ address: SessionAddress, protocolName: String, attempt: AttemptID, at now: Timestamp
  ) async throws(StoreError) -> Consumption {
    try locked { contents throws(StoreError) in
      guard var record = contents[address] else { return .refused(.sessionNotFound) }
      if let refusal = record.consumeRefusal(protocolName: protocolName, at: now) { return .refused(refusal) }
      record.state = .processing(.init(id: attempt, protocolName: protocolName, startedAt: now))
      let taken = record
      record.eraseMaterial()
      contents[address] = record
      return .consumed(taken)
    }
  }

  package func recordOutcome(
    _ outcome: AttemptOutcome, at now: Timestamp, finishing completion: IdempotencyCompletion?
  ) async throws(StoreError) -> OutcomeRecording {
    try locked { contents throws(StoreError) in
      guard var record = contents[outcome.address] else { return .superseded(nil) }
      guard case .processing(let attempt) = record.state(at: now), attempt.id == outcome.attempt else {
        return .superseded(record)
      }
      record.conclude(outcome, at: now)
      contents[outcome.address] = record
      contents.evidence[outcome.address.id] = outcome.evidence
      contents.outbox.tell(record, result: outcome.result, at: now)
      contents.audit.write(outcome, at: now)
      contents.finish(completion)
      return .recorded
    }
  }

  package func expire(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Bool {
    try locked { contents throws(StoreError) in
      guard let record = contents[address], record.state(at: now) == .requiresInput else { return false }
      contents[address] = SessionRecord(
        address: address, created: record.created, expiresAt: now, clientSecretHash: record.clientSecretHash,
        content: record.content, offers: record.offers)
      return true
    }
  }

  package func recordVerification(_ outcome: AttemptOutcome, at now: Timestamp) async throws(StoreError) {
    try locked { contents throws(StoreError) in
      contents.verifications.append((outcome, now))
      contents.audit.write(outcome, at: now)
    }
  }

  package func session(_ address: SessionAddress) async throws(StoreError) -> SessionRecord? {
    try locked { contents throws(StoreError) in contents[address] }
  }

  package func exists(_ address: SessionAddress) async throws(StoreError) -> Bool {
    try locked { contents throws(StoreError) in contents[address] != nil }
  }

  package func session(_ id: SessionID?, clientSecretHash: [UInt8]) async throws(StoreError) -> SessionRecord? {
    try locked { contents throws(StoreError) in
      guard let record = id.flatMap({ contents.sessions[$0] }), record.clientSecretHash == clientSecretHash else {
        return nil
      }
      return record
    }
  }

  package func unended(among ids: [SessionID], at now: Timestamp) async throws(StoreError) -> Set<SessionID> {
    try locked { contents throws(StoreError) in
      Set(ids.filter { id in contents.sessions[id].map { !$0.state(at: now).status.isFinal } ?? false })
    }
  }

  package func sessions(
    of relyingParty: String, _ query: SessionQuery, at now: Timestamp
  ) async throws(StoreError) -> SessionPage? {
    try locked { contents throws(StoreError) in
      var newestFirst = contents.order.reversed().compactMap { contents.sessions[$0] }
        .filter { $0.address.relyingParty == relyingParty }
      if let cursor = query.startingAfter {
        guard let index = newestFirst.firstIndex(where: { $0.address.id == cursor }) else { return nil }
        newestFirst.removeFirst(index + 1)
      }
      newestFirst.removeAll { record in
        let seconds = record.created.secondsSince1970
        return (query.clientReferenceID.map { record.content?.clientReferenceID != $0 } ?? false)
          || (query.docType.map { record.content?.docTypeLines.contains(SessionContent.lines(of: [$0])) != true }
            ?? false)
          || seconds < query.createdFrom ?? 0 || seconds >= query.createdBefore ?? .max
      }
      if let status = query.status { newestFirst.removeAll { $0.state(at: now).status != status } }
      var page: [SessionRecord] = []
      var bytes = 0
      for record in newestFirst.prefix(query.limit) where bytes < Limits.pageBytes {
        page.append(record.listed(query.parts))
        bytes += page.last?.listedBytes ?? 0
      }
      return SessionPage(entries: page, hasMore: newestFirst.count > page.count)
    }
  }

  package func cancel(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    try locked { contents throws(StoreError) in
      guard var record = contents[address] else { return .notFound }
      guard case .requiresInput = record.state(at: now) else { return .refused(record) }
      record.cancel(at: now)
      contents[address] = record
      contents.outbox.tell(record, at: now)
      return .changed(record)
    }
  }

  package func redact(_ address: SessionAddress, at now: Timestamp) async throws(StoreError) -> Transition {
    try locked { contents throws(StoreError) in
      guard var record = contents[address] else { return .notFound }
      if case .redacted = record.state { return .refused(record) }
      if case .processing(let attempt) = record.state {
        contents.audit.write(unfinished: attempt, of: address, record.state(at: now).lastError, at: now)
      }
      record.redact(at: now)
      contents[address] = record
      contents.evidence[address.id] = nil
      contents.outbox.tell(record, at: now)
      for (scope, key) in contents.keys where key.reply?.session == address.id {
        contents.keys[scope]?.reply = StoredReply(session: address.id, body: nil)
      }
      return .changed(record)
    }
  }

  package func report(_ id: ReportID, of relyingParty: String) async throws(StoreError) -> ReportRecord? {
    try locked { contents throws(StoreError) in
      let attempts =
        contents.sessions.values.map { ($0.address, $0.report) }
        + contents.verifications.map { ($0.outcome.address, $0.outcome.report) }
      return attempts.first { $0.0.relyingParty == relyingParty && $0.1?.id == id.text }?.1
    }
  }

  package func evidence(_ address: SessionAddress) async throws(StoreError) -> [UInt8]? {
    try locked { contents throws(StoreError) in contents[address].flatMap { contents.evidence[$0.address.id] } }
  }

  // MARK: Idempotency

  package func beginIdempotent(
    _ claim: IdempotencyClaim, at now: Timestamp
  ) async throws(StoreError) -> IdempotencyStart {
    try locked { contents throws(StoreError) in
      if let key = contents.keys[claim.scope], now < key.begun + Limits.idempotencyLifetime {
        if key.claim.bodyHash != claim.bodyHash { return .bodyDiffers }
        if let reply = key.reply { return .finished(reply) }
        if now < key.begun + IdempotencyClaim.lease { return .inProgress }
      }
      contents.keys[claim.scope] = Key(claim: claim, begun: now)
      return .started
    }
  }

  package func finishIdempotent(_ completion: IdempotencyCompletion) async throws(StoreError) {
    try locked { contents throws(StoreError) in contents.finish(completion) }
  }

  package func releaseIdempotent(_ claim: IdempotencyClaim) async throws(StoreError) {
    try locked { contents throws(StoreError) in
      if let key = contents.keys[claim.scope], key.claim == claim, key.reply == nil { contents.keys[claim.scope] = nil }
    }
  }

  // MARK: Upkeep

  package func usage(of relyingParty: String, at now: Timestamp) async throws(StoreError) -> StoreUsage {
    try locked { contents throws(StoreError) in
      let own = contents.sessions.values.filter { $0.address.relyingParty == relyingParty }
      let kept = own.map { Int64($0.keptBytes + (contents.evidence[$0.address.id]?.count ?? 0)) }
      let replies = contents.keys.values.filter { $0.claim.relyingParty == relyingParty }.compactMap(\.reply)
      let verified = contents.verifications.filter { $0.outcome.address.relyingParty == relyingParty }
      let reports = verified.map { Int64($0.outcome.report.map { StoredForm.encode($0).count } ?? 0) }
      return StoreUsage(
        openSessions: Int64(own.count { $0.state(at: now) == .requiresInput }),
        bytes: (kept + reports).reduce(0, +) + Int64(own.count + verified.count) * StoreUsage.sessionOverhead,
        idempotencyBytes: replies.reduce(0) { $0 + Int64($1.body?.count ?? 0) + StoreUsage.replyOverhead })
    }
  }

  package func sweep(at now: Timestamp, limit: Int) async throws(StoreError) -> SweepCount {
    try locked { contents throws(StoreError) in contents.sweep(at: now, limit: limit) }
  }

  package func probe() async throws(StoreError) { try locked { _ throws(StoreError) in } }

  package func close() async { state.withLock { $0.isClosed = true } }
}

extension InMemoryStore.Contents {
  /// Scoped: nil for another relying party's.
  fileprivate subscript(address: SessionAddress) -> SessionRecord? {
    get { sessions[address.id].flatMap { $0.address == address ? $0 : nil } }
    set { sessions[address.id] = newValue }
  }

  fileprivate mutating func finish(_ completion: IdempotencyCompletion?) {
    guard let completion, keys[completion.claim.scope]?.claim == completion.claim else { return }
    var reply = completion.reply
    // The session was redacted before the reply arrived, so the reply's content is not kept.
    if let session = reply.session, case .redacted = sessions[session]?.state {
      reply = StoredReply(session: session, body: nil)
    }
    keys[completion.claim.scope]?.reply = reply
  }

  fileprivate mutating func sweep(at now: Timestamp, limit: Int) -> SweepCount {
    var count = SweepCount()
    let before = verifications.count
    verifications.removeAll { $0.time <= now - Limits.sessionRetention }
    count.verificationsDeleted = before - verifications.count
    for id in order {
      guard var record = sessions[id] else { continue }
      switch (record.state, record.state(at: now)) {
      case (.requiresInput, .expired) where count.expired < limit:
        record.state = .expired
        record.eraseMaterial()
        outbox.tell(record, at: now)
        count.expired += 1
      case (.processing(let attempt), .failed(let error, let time)) where count.interrupted < limit:
        record.state = .failed(error, at: time)
        outbox.tell(record, at: now)
        audit.write(unfinished: attempt, of: record.address, error, at: now)
        count.interrupted += 1
      default: break
      }
      if let end = record.results.expiresAt, now >= end, record.results.waiting != nil, count.resultsErased < limit {
        record.results.waiting = nil
        count.resultsErased += 1
      }
      if let next = record.results.kept.nextErasure, next <= now, count.valuesErased < limit {
        if record.results.kept.erase(dueAt: now) {
          record.results.evidence = .erased
          evidence[id] = nil
        }
        count.valuesErased += 1
      }
      sessions[id] = record
      let mayGo = record.results.kept.nextErasure == nil
      if mayGo, now >= record.endedAt + Limits.sessionRetention, count.sessionsDeleted < limit {
        sessions[id] = nil
        evidence[id] = nil
        count.sessionsDeleted += 1
      }
    }
    order.removeAll { sessions[$0] == nil }
    for (scope, key) in keys {
      if let end = key.reply?.resultExpiresAt, now >= end { keys[scope]?.reply?.result = nil }
      if now >= key.begun + Limits.idempotencyLifetime {
        keys[scope] = nil
        count.idempotencyKeysDeleted += 1
      }
    }
    outbox.sweep(at: now, limit: limit, &count)
    return count
  }
}

/// The rules of a session's life. Databases express the same rules in queries; one test suite runs over all stores.
extension SessionRecord {
  /// Removes everything with which a response could still be submitted.
  fileprivate mutating func eraseMaterial() {
    for index in offers.indices { offers[index].sealedMaterial = nil }
  }

  fileprivate mutating func cancel(at now: Timestamp) {
    state = .canceled(at: now)
    clientSecretHash = nil
    eraseMaterial()
  }

  /// Erases everything except ids, times, status and codes.
  fileprivate mutating func redact(at now: Timestamp) {
    state = .redacted(at: now, lastError: state(at: now).lastError?.redacted)
    clientSecretHash = nil
    content = nil
    offers = []
    results = .none
    report = report?.redacted()
  }

  fileprivate mutating func conclude(_ outcome: AttemptOutcome, at now: Timestamp) {
    switch outcome.conclusion {
    case .verified(let results):
      state = .verified(at: now)
      self.results = results
    case .failed(let error): state = .failed(error, at: now)
    case .canceled(let error): state = .canceled(at: now, lastError: error)
    }
    report = outcome.report
  }

  /// The time of the session's last change, which determines its deletion.
  fileprivate var endedAt: Timestamp {
    switch state {
    case .requiresInput, .expired: expiresAt
    case .processing(let attempt): attempt.startedAt
    case .verified(let time), .failed(_, let time), .canceled(let time, _), .redacted(let time, _): time
    }
  }
}

extension SessionRecord {
  /// The parts that a list shows.
  fileprivate func listed(_ parts: Set<SessionPart>) -> SessionRecord {
    var record = self
    record.clientSecretHash = nil
    record.results.waiting = nil
    record.results.kept = KeptValues()
    if parts.contains(.requests) { record.eraseMaterial() } else { record.offers = [] }
    if !parts.contains(.report) { record.report = nil }
    return record
  }

  fileprivate var listedBytes: Int {
    let parts = [content.map { StoredForm.encode($0) }, report.map { StoredForm.encode($0) }].compactMap { $0?.count }
    return (parts + offers.map { $0.data.bytes.count }).reduce(0, +)
  }

  fileprivate var keptBytes: Int { listedBytes + (results.kept.stored?.count ?? 0) }
}

/// The audit entries of a store in memory, which are only its node's.
struct InMemoryAudit {
  let mode: ServerMode
  private(set) var head: AuditHead
  private(set) var links: [AuditLink] = []

  init(node: NodeName, mode: ServerMode) {
    self.mode = mode
    head = AuditHead(beginning: node)
  }

  mutating func write(_ outcome: AttemptOutcome, at now: Timestamp) {
    append(AuditEntry(of: outcome, at: now, mode: mode))
  }

  mutating func write(
    unfinished attempt: SessionState.Attempt, of address: SessionAddress, _ error: LastError?, at now: Timestamp
  ) {
    append(AuditEntry(unfinished: attempt, of: address, error, at: now, mode: mode))
  }

  private mutating func append(_ entry: AuditEntry) {
    let link = AuditLink(entry, after: head)
    links.append(link)
    head = link.head
  }
}

extension InMemoryAudit {
  /// Those of one relying party, or all.
  func links(of relyingParty: String?) -> [AuditLink] {
    guard let relyingParty else { return links }
    return links.filter { (try? JSON(parsing: $0.entry))?["relying_party"]?.string == relyingParty }
  }
}

extension InMemoryStore {
  package func auditEntries(
    of node: NodeName, _ relyingParty: String?, after sequence: Int64, limit: Int
  ) async throws(StoreError) -> AuditPage {
    try locked { contents throws(StoreError) in
      let links = contents.audit.links(of: relyingParty)
      guard node == contents.audit.head.node, let last = links.last else { return AuditPage(links: [], head: nil) }
      return AuditPage(links: Array(links.drop { $0.head.sequence <= sequence }.prefix(limit)), head: last.head)
    }
  }

  package func auditHeads(of relyingParty: String?) async throws(StoreError) -> [AuditHead] {
    try locked { contents throws(StoreError) in contents.audit.links(of: relyingParty).last.map { [$0.head] } ?? [] }
  }
}
