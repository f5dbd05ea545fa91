import Cryptography
import Mdoc
import Primitives

/// What a verdict becomes: the session's next state, its report, and who gets the result and how.
///
/// - An API key with `results:read` gets it in the reply; it is then not stored.
/// - After a client secret's submit it waits, sealed, for at most ten minutes.
/// - Where the relying party's policy retains results, the part that was requested with `intent_to_retain` is kept
///   sealed besides.
/// - A refused answer has no result at all.
struct Conclusion {
  let state: SessionState
  let results: SealedResults
  let report: ReportRecord?
  let inlineResult: JSON?
  /// Test mode's look at what a simulator answered; never in live mode, never stored.
  let simulatedResult: JSON?

  var recorded: AttemptOutcome.Conclusion {
    if case .failed(let error, _) = state { .failed(error) } else { .verified(results) }
  }

  init(
    _ verdict: Verdict?, of record: SessionRecord, as caller: Caller, at now: Timestamp, context: ServiceContext
  ) throws(ServiceError) {
    guard let verdict else {
      self.init(.failed(.interrupted, at: now), nil)
      return
    }
    let reportID: ReportID
    do { reportID = try ReportID.random() } catch { throw .cryptoFailed }
    let report = ReportRecord(verdict.report, id: reportID)
    switch verdict.outcome {
    case .refused(let reasons):
      let isShown = !context.isLive && caller.has(.resultsRead)
      self.init(
        .failed(LastError(reasons), at: now), report,
        simulatedResult: isShown ? verdict.simulated.map(ResultRendering.json) : nil)
    case .accepted(let presentation):
      let id = record.address.id
      var results = SealedResults.none
      if case .clientSecret = caller {
        results.expiresAt = now + Limits.resultLifetime
        results.waiting = try context.seal(ResultRendering.json(presentation), .result(id))
      }
      if caller.relyingParty.policies.retainsResults {
        results.retained = try context.seal(ResultRendering.retainedJSON(presentation), .retainedResult(id))
      }
      self.init(
        .verified(at: now), report, results,
        inlineResult: caller.has(.resultsRead) ? ResultRendering.json(presentation) : nil)
    }
  }

  private init(
    _ state: SessionState, _ report: ReportRecord?, _ results: SealedResults = .none, inlineResult: JSON? = nil,
    simulatedResult: JSON? = nil
  ) {
    self.state = state
    self.report = report
    self.results = results
    self.inlineResult = inlineResult
    self.simulatedResult = simulatedResult
  }
}
