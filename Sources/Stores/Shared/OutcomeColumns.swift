import VerificationService

/// What is written of an attempt's outcome; made in the caller's task.
struct OutcomeColumns: Sendable {
  let status: SessionStatus
  let lastError: [UInt8]?
  let results: SealedResults
  let reportID: String?
  let report: [UInt8]?

  init(_ outcome: AttemptOutcome) throws(StoreError) {
    switch outcome.conclusion {
    case .verified(let sealed):
      status = .verified
      results = sealed
      lastError = nil
    case .failed(let error):
      status = .failed
      results = .none
      lastError = try StoredForm.encode(error)
    case .canceled(let error):
      status = .canceled
      results = .none
      lastError = try StoredForm.encode(error)
    }
    reportID = outcome.report?.id
    report = try outcome.report.map { report throws(StoreError) in try StoredForm.encode(report) }
  }
}
