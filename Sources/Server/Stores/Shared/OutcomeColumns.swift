import Sessions

/// What is written of an attempt's outcome; made in the caller's task.
struct OutcomeColumns: Sendable {
  /// The status, and the event that tells of it.
  let type: EventType
  let lastError: [UInt8]?
  let errorCode: String?
  let results: SealedResults
  /// Of a report that is not found by its session.
  let reportID: String?
  let report: [UInt8]?

  /// What of them is kept for as long as the session.
  var bytes: Int { [lastError, report, results.kept.stored].reduce(0) { $0 + ($1?.count ?? 0) } }

  init(_ outcome: AttemptOutcome) {
    let error: LastError?
    (type, results, error) =
      switch outcome.conclusion {
      case .verified(let sealed): (.verified, sealed, nil)
      case .failed(let error): (.failed, .none, error)
      case .canceled(let error): (.canceled, .none, error)
      }
    lastError = error.map { StoredForm.encode($0) }
    errorCode = error?.code
    reportID = outcome.report?.id.flatMap { $0 == ReportID(of: outcome.address.id).text ? nil : $0 }
    report = outcome.report.map { StoredForm.encode($0) }
  }
}
