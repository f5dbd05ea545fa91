import Base

extension DocumentReport {
  /// Whether the document was only refused because requested elements are missing.
  fileprivate var lacksOnlyElements: Bool {
    checks.filter { $0.outcome == .failed }.map(\.code) == [.elementMissing]
  }

  fileprivate mutating func warnOfMissingElements() {
    checks = checks.map { check in
      guard check.code == .elementMissing else { return check }
      let missing = check.detail.map { $0 + "; " } ?? ""
      return Check(check.code, .warning, detail: missing + "another document satisfies the request")
    }
  }
}

/// Decides by the request whether verified documents are accepted. A requested element must be there. An element that was
/// not requested is named, and its value dropped.
struct AcceptanceRules {
  /// Nil accepts every verified element of every verified document.
  let request: PresentationRequest?
  let isStrict: Bool
  let fallsBackToAgeInYears: Bool
  let leavesUnread: Bool
  let now: Timestamp

  /// - Parameters:
  ///   - answered: for each outcome the index of the document in the request that it answers.
  ///   - report: makes the report out of the checks of the response and of each document.
  func decide(
    _ outcomes: [DocumentOutcome], answering answered: [Int?], responseChecks: CheckList,
    report: (_ checks: [Check], _ documents: [DocumentReport]) -> VerificationReport
  ) -> Verdict {
    var responseChecks = responseChecks
    var reports: [DocumentReport] = []
    var accepted: [AcceptedDocument] = []
    // Unless every part of the answer is authentic, no document is looked at further.
    let isAuthentic = !responseChecks.hasFailed && outcomes.allSatisfy(\.isVerified)
    let isAnyOf = request?.requiresAllDocuments == false
    for (outcome, index) in zip(outcomes, answered) {
      var report = outcome.report
      if isAuthentic, case .verified(let document, _) = outcome {
        let decision = decide(document, answering: index)
        report.checks += decision.checks
        if let document = decision.accepted { accepted.append(document) }
      } else {
        report.checks += Self.codes.map { Check($0, .notRun) }
      }
      reports.append(report)
    }
    if let request, request.requiresAllDocuments {
      let missing = request.documents.indices.filter { !answered.contains($0) }.map { request.documents[$0].docType }
      let repeated = isAuthentic ? repeatedDocuments(outcomes) : []
      responseChecks.require(
        missing.isEmpty && repeated.isEmpty, .documentMissing, (missing + repeated).joined(separator: ", "))
    } else {
      responseChecks.notRun(.documentMissing)
    }
    // Where any one is enough, an authentic document beside it may lack elements. Nothing else of it is forgiven: a failed
    // check of age, type or expiry speaks against the answer.
    let spared =
      isAnyOf && !isStrict && !accepted.isEmpty ? reports.indices.filter { reports[$0].lacksOnlyElements } : []
    for index in spared { reports[index].warnOfMissingElements() }
    let isComplete = !accepted.isEmpty && accepted.count == outcomes.count - spared.count
    // Where any one is enough, it is the first of the request that discloses something. The others may be of another person,
    // so they are not shown.
    let ordered = accepted.sorted { ($0.requestIndex ?? 0) < ($1.requestIndex ?? 0) }
    let one = ordered.first(where: \.disclosesSomething) ?? ordered.first
    let shown = isAnyOf ? one.map { [$0] } ?? [] : accepted
    if isComplete { checkDisclosure(shown, &responseChecks) } else { responseChecks.notRun(.nothingDisclosed) }
    let report = report(responseChecks.checks, reports)
    // One document that fails refuses the whole answer: otherwise a forged one could ride along with a genuine one.
    guard report.reasons.isEmpty, isComplete else { return .refused(report) }
    let presentation = AcceptedPresentation(
      documents: shown, leavesUnread: leavesUnread || shown.count < outcomes.count)
    return Verdict(outcome: .accepted(presentation), report: report)
  }

  /// Every check of one document's elements, in the order in which they are made.
  static let codes: [Code] = [
    .elementTypeInvalid, .elementMissing, .elementUnexpected, .ageContradictory, .ageInconsistent, .ageBelowMinimum,
    .documentExpired,
  ]

  /// Names each document that is not known to be another than one before it: "two licences" are not one licence twice.
  private func repeatedDocuments(_ outcomes: [DocumentOutcome]) -> [String] {
    let documents = outcomes.compactMap { if case .verified(let document, _) = $0 { document } else { nil } }
    return documents.indices.compactMap { index in
      documents[..<index].firstIndex { !$0.isDistinct(from: documents[index]) }
        .map { "documents[\(index)] may be the same document as documents[\($0)]" }
    }
  }

  /// Warns, or in strict mode rejects, if genuine documents disclose nothing that was asked for: they then prove
  /// only that they are there.
  private func checkDisclosure(_ shown: [AcceptedDocument], _ checks: inout CheckList) {
    guard !checks.hasFailed else { return checks.notRun(.nothingDisclosed) }
    let others = shown.map(\.unrequestedElements.count).reduce(0, +)
    checks.expect(
      shown.contains(where: \.disclosesSomething), .nothingDisclosed,
      "nothing that was asked for came; \(others) elements that were not asked for are left out", isStrict: isStrict)
  }

  // MARK: One document

  private func decide(
    _ document: VerifiedDocument, answering index: Int?
  ) -> (checks: [Check], accepted: AcceptedDocument?) {
    guard let request else { return decideUnrequested(document) }
    var checks = CheckList(expecting: 8)
    guard let index, case let wanted = request.documents[index] else {
      checks.failed(.docTypeNotRequested, "\(shown(document.docType)) came more often than it was asked for")
      return (checks.checks, nil)
    }
    let age = AgeEvaluation(document: document, request: wanted, fallsBackToAgeInYears: fallsBackToAgeInYears, now: now)
    // Values are made once: a portrait is not small.
    var requested: [AcceptedDocument.Element] = []
    requested.reserveCapacity(wanted.elements.count)
    var missing: [ElementRequest] = []
    for element in wanted.elements
    where !appendValues(of: element, in: document, to: &requested, retention: wanted.retention) {
      missing.append(element)
    }
    let thresholds = wanted.ageThresholds
    let answers = thresholds.compactMap(age.answer)
    let mistyped = checkTypes(of: document, &checks) { element in
      requested.contains { $0.reference == element }
        || !thresholds.isEmpty && age.mistypedAttestations.contains(element)
    }
    let undecided = thresholds.filter { threshold in !answers.contains { $0.threshold == threshold } }
      .map { ageElement($0, document.docType) }
      .filter { !mistyped.contains($0) }
    let lacking = missing.filter(\.isRequired)
    checks.require(
      lacking.isEmpty && undecided.isEmpty, .elementMissing,
      names(
        lacking.map { ($0.element, names($0.alternatives).map { " (nor in its place \($0))" } ?? "") }
          + undecided.map { ($0, " (nor another element that was asked for and decides it)") }))

    let unrequested = document.elements.filter { element in
      !requested.contains { $0.reference == element } && !answers.contains { $0.provedBy == element }
    }
    if isStrict {
      checks.require(unrequested.isEmpty, .elementUnexpected, names(unrequested))
    } else {
      checks.notRun(.elementUnexpected)
    }
    checkAge(age, wanted, answers, &checks)
    checkExpiry(document, by: wanted, &checks)
    guard !checks.hasFailed else { return (checks.checks, nil) }
    let accepted = make(
      document, answering: index, elements: requested,
      deviceSigned: wanted.elements.map { ($0.element, wanted.retention(of: $0.element)) }, ageAnswers: answers,
      missing: missing.map(\.element), unrequested: unrequested,
      retention: .strictest(of: (document.elements + document.deviceSignedElements).map(wanted.retention)))
    return (checks.checks, accepted)
  }

  /// Without a request every verified element is shown.
  private func decideUnrequested(_ document: VerifiedDocument) -> (checks: [Check], accepted: AcceptedDocument?) {
    var checks = CheckList(expecting: 8)
    _ = checkTypes(of: document, &checks) { _ in false }
    checks.notRun(.elementMissing, .elementUnexpected)
    let all = DocumentRequest(docType: document.docType, elements: document.elements.map { ElementRequest($0) })
    let age = AgeEvaluation(document: document, request: all, fallsBackToAgeInYears: false, now: now)
    checkAge(age, all, [], &checks)
    checkExpiry(document, by: nil, &checks)
    guard !checks.hasFailed else { return (checks.checks, nil) }
    var requested: [AcceptedDocument.Element] = []
    for element in all.elements {
      _ = appendValues(of: element, in: document, to: &requested, retention: { _ in .none })
    }
    let accepted = make(
      document, answering: nil, elements: requested,
      deviceSigned: document.deviceSignedElements.map { ($0, .none) }, ageAnswers: [], missing: [], unrequested: [],
      retention: .none)
    return (checks.checks, accepted)
  }

  /// Names every returned element whose value has another type than its standard prescribes (ISO/IEC 18013-5:2021,
  /// 7.2.1). That is a fault of the document's profile: it warns, and rejects in strict mode. Where the element was asked
  /// for, it always rejects: in a result, a text cannot be told from the date that was asked for.
  ///
  /// - Returns: the mistyped elements that were asked for.
  private func checkTypes(
    of document: VerifiedDocument, _ checks: inout CheckList, isRequested: (ElementReference) -> Bool
  ) -> [ElementReference] {
    var mistyped: [ElementReference] = []
    var expected: [ElementReference: ElementTypes] = [:]
    document.forEachElement { element, item in
      guard let types = DocTypeCatalogue.expectedTypes(of: element, violatedBy: item) else { return }
      mistyped.append(element)
      expected[element] = types
    }
    let requested = mistyped.filter(isRequested)
    let detail = names(mistyped) { element in
      expected[element].map { " (\($0.names.joined(separator: " or ")) expected)" }
    }
    checks.expect(mistyped.isEmpty, .elementTypeInvalid, detail, isStrict: isStrict || !requested.isEmpty)
    return requested
  }

  private func checkAge(
    _ age: AgeEvaluation<VerifiedDocument>, _ wanted: DocumentRequest, _ answers: [AgeAnswer], _ checks: inout CheckList
  ) {
    checks.require(!age.isContradictory, .ageContradictory, "among \(names(age.attestationElements) ?? "")")
    checks.expect(!age.isInconsistent, .ageInconsistent, "among \(names(age.elements) ?? "")", isStrict: isStrict)
    guard let minimum = wanted.minimumAge, let answer = answers.first(where: { $0.threshold == minimum }) else {
      return checks.notRun(.ageBelowMinimum)
    }
    checks.require(answer.answer, .ageBelowMinimum, "minimum \(minimum)")
  }

  /// Checks the document's own expiry date, which is separate from the validity of its signature. The whole of that day
  /// still counts as valid. Without a request, or if it accepts expired documents, an expired one only warns.
  private func checkExpiry(_ document: VerifiedDocument, by wanted: DocumentRequest?, _ checks: inout CheckList) {
    let namespaces = [DocTypeCatalogue.ageNamespace(ofDocType: document.docType), Namespace.mDL, Namespace.iso23220]
    let values = namespaces.lazy.compactMap { document[ElementReference($0, "expiry_date")] }
    let isCurrent: Bool
    switch values.first {
    case .fullDate(let date)?: isCurrent = date >= AgeCalendar.dayReachedEverywhere(at: now)
    case .dateTime(let text)?: isCurrent = Timestamp(rfc3339: text).map { $0 >= now } ?? false
    default: return checks.notRun(.documentExpired)
    }
    checks.expect(
      isCurrent, .documentExpired, "expiry_date is before \(now)",
      isStrict: isStrict || wanted?.acceptsExpired == false)
  }

  /// Appends the element's value, and the values of those alternatives that came, each once.
  ///
  /// - Returns: whether any of them came.
  private func appendValues(
    of request: ElementRequest, in document: VerifiedDocument, to found: inout [AcceptedDocument.Element],
    retention: (ElementReference) -> Retention
  ) -> Bool {
    var isThere = false
    for reference in [request.element] + request.alternatives {
      // Two requests may have the same alternative.
      if found.contains(where: { $0.reference == reference }) {
        isThere = true
      } else if let value = document[reference] {
        found.append(.init(reference: reference, value: value, retention: retention(reference)))
        isThere = true
      }
    }
    return isThere
  }

  private func ageElement(_ threshold: Int, _ docType: String) -> ElementReference {
    ElementReference(DocTypeCatalogue.ageNamespace(ofDocType: docType), AgeAttestations.identifier(for: threshold))
  }

  private func make(
    _ document: VerifiedDocument, answering index: Int?, elements: [AcceptedDocument.Element],
    deviceSigned: [(ElementReference, Retention)], ageAnswers: [AgeAnswer], missing: [ElementReference],
    unrequested: [ElementReference], retention: Retention
  ) -> AcceptedDocument {
    AcceptedDocument(
      requestIndex: index, docType: document.docType,
      elements: elements,
      deviceSignedElements: deviceSigned.compactMap { reference, retention in
        document.deviceSignedValue(of: reference).map {
          .init(reference: reference, value: $0, retention: retention)
        }
      },
      ageAnswers: ageAnswers, missingElements: missing, unrequestedElements: unrequested,
      retention: retention, issuer: document.issuer, validity: document.validity,
      deviceAuthentication: document.deviceAuthentication,
      revocation: document.revocation)
  }
}
