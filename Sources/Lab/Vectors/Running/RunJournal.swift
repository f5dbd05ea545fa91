import Base

/// The result of one case of a resumable run: a line of its journal.
package struct JournalEntry: Sendable {
  package let id: String
  package let result: Result<Judgement, VerdictError>
  package let seconds: Double

  package init(id: String, result: Result<Judgement, VerdictError>, seconds: Double) {
    (self.id, self.result, self.seconds) = (id, result, seconds)
  }

  package var json: JSON {
    var members: [JSON.Member] = [.init("id", .string(id)), .init("seconds", .double(seconds))]
    switch result {
    case .success(let judgement):
      members.append(.init("accepted", .bool(judgement.isAccepted)))
      if let codes = judgement.codes { members.append(.init("codes", .strings(codes))) }
      if let note = judgement.note { members.append(.init("note", .string(note))) }
    case .failure(.unsupported(let reason)): members.append(.init("skipped", .string(reason)))
    case .failure(.ended(.silent(let seconds))): members.append(.init("silent", .integer(Int64(seconds))))
    case .failure(.ended(.crashed(let how))): members.append(.init("crashed", .string(how)))
    case .failure(.ended(let end)): members.append(.init("problem", .string("the verifier \(end.text)")))
    case .failure(.other(let reason)), .failure(.gone(let reason)): members.append(.init("problem", .string(reason)))
    }
    return .object(members)
  }

  /// Nil for a malformed line, such as the last line of a killed run.
  package init?(_ json: JSON) {
    guard let id = json["id"]?.string, let result = Self.result(json) else { return nil }
    let seconds: Double = if case .double(let seconds)? = json["seconds"] { seconds } else { 0 }
    self.init(id: id, result: result, seconds: seconds)
  }

  private static func result(_ json: JSON) -> Result<Judgement, VerdictError>? {
    if let isAccepted = json["accepted"]?.bool {
      var judgement = Judgement(isAccepted: isAccepted, codes: json["codes"]?.array?.compactMap(\.string))
      judgement.note = json["note"]?.string
      return .success(judgement)
    }
    if let reason = json["skipped"]?.string { return .failure(.unsupported(reason)) }
    if let seconds = json["silent"]?.integer { return .failure(.ended(.silent(Int(clamping: seconds)))) }
    if let how = json["crashed"]?.string { return .failure(.ended(.crashed(how))) }
    return json["problem"]?.string.map { .failure(.other($0)) }
  }
}

extension VectorResult {
  /// Makes the result of a case from its journal entry.
  package init(of summary: CaseSummary, in group: String, _ entry: JournalEntry) {
    var judgement: Judgement?
    var end: VerifierError?
    let outcome: Outcome
    switch entry.result {
    case .success(let found):
      let stage: VectorStage = summary.expectation.isAccepted ? .accepted : .authenticate
      let expected = VectorExpectation(stage: stage, codes: summary.expectation.codes)
      judgement = found
      outcome = expected.problem(with: found).map(Outcome.failed) ?? .passed
    case .failure(.unsupported(let reason)): outcome = .skipped(reason)
    case .failure(.ended(let how)):
      end = how
      outcome = .failed("no verdict: the verifier \(how.text)")
    case .failure(.other(let reason)), .failure(.gone(let reason)): outcome = .failed("no verdict: \(reason)")
    }
    self.init(of: summary, in: group, outcome, judgement, seconds: entry.seconds)
    self.end = end
  }
}
