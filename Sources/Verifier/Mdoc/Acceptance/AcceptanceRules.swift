import Base

/// Decides whether verified documents satisfy the request and are accepted. Every requested element must be returned.
/// An unrequested element is listed, and its value is discarded.
struct AcceptanceRules: Sendable {
  /// Nil accepts every verified element of every verified document.
  let request: PresentationRequest?
  let isStrict: Bool
  let fallsBackToAgeInYears: Bool
  /// Whether the responses contain unread data, such as unrequested proofs.
  let leavesUnread: Bool
  let now: Timestamp

  /// - Parameters:
  ///   - requestIndices: the index of the requested document that each outcome satisfies.
  ///   - report: the report of the response, without checks.
  func decide(
    _ outcomes: [DocumentOutcome], requestIndices: [Int?], responseChecks: CheckList, report: VerificationReport
  ) -> Verdict {
    var responseChecks = responseChecks
    var report = report
    var accepted: [AcceptedDocument] = []
    // No document is examined further unless the whole response is authentic.
    let isAuthentic = !responseChecks.hasFailed && outcomes.allSatisfy { $0.verified != nil }
    for (outcome, index) in zip(outcomes, requestIndices) {
      report.documents.append(outcome.report)
      let last = report.documents.count - 1
      if isAuthentic, let document = outcome.verified {
        let decision = decide(document, requestIndex: index)
        report.documents[last].checks += decision.checks
        if let document = decision.accepted { accepted.append(document) }
      } else {
        report.documents[last].checks += Self.codes.map { Check($0, .notRun) }
      }
    }
    if let request, request.requiresAllDocuments {
      let missing = request.documents.indices.filter { !requestIndices.contains($0) }
        .map { request.documents[$0].docType }
      let repeated = isAuthentic ? repeatedDocuments(outcomes) : []
      responseChecks.require(
        missing.isEmpty && repeated.isEmpty, .documentMissing, (missing + repeated).joined(separator: ", "))
    } else {
      responseChecks.notRun(.documentMissing)
    }
    // If one document suffices, another authentic document may lack elements. No other failure is ignored: a failed
    // check of age, type or expiry counts against the response.
    let isAnyOf = request?.requiresAllDocuments == false
    let spared =
      isAnyOf && !isStrict && !accepted.isEmpty
      ? report.documents.indices.filter { report.documents[$0].lacksOnlyElements } : []
    for index in spared { report.documents[index].warnOfMissingElements() }
    let isComplete = !accepted.isEmpty && accepted.count == outcomes.count - spared.count
    // Shows only the first requested document that discloses something. The other documents may belong to another
    // person.
    let ordered = accepted.sorted { ($0.requestIndex ?? 0) < ($1.requestIndex ?? 0) }
    let one = ordered.first(where: \.disclosesSomething) ?? ordered.first
    let shown = isAnyOf ? one.map { [$0] } ?? [] : accepted
    if isComplete { checkDisclosure(shown, &responseChecks) } else { responseChecks.notRun(.nothingDisclosed) }
    report.checks = responseChecks.checks
    // One failed document rejects the whole response, so that no forged document can accompany a genuine one.
    guard report.reasons.isEmpty, isComplete else { return .refused(report) }
    let presentation = AcceptedPresentation(
      documents: shown, leavesUnread: leavesUnread || shown.count < outcomes.count)
    return Verdict(outcome: .accepted(presentation), report: report)
  }

  /// Every check of one document's elements, in its order of execution.
  static let codes: [Code] = [
    .elementTypeInvalid, .elementMissing, .elementUnexpected, .ageContradictory, .ageInconsistent, .ageBelowMinimum,
    .documentExpired,
  ]

  /// Reports each document that may be the same as an earlier one. One licence sent twice does not satisfy a request
  /// for two licences.
  private func repeatedDocuments(_ outcomes: [DocumentOutcome]) -> [String] {
    let documents = outcomes.compactMap(\.verified)
    return documents.indices.compactMap { index in
      documents[..<index].firstIndex { !$0.isDistinct(from: documents[index]) }
        .map { "documents[\(index)] may be the same document as documents[\($0)]" }
    }
  }

  /// Warns if genuine documents disclose no requested data, since they then prove only that they exist. In strict mode
  /// this rejects.
  private func checkDisclosure(_ shown: [AcceptedDocument], _ checks: inout CheckList) {
    guard !checks.hasFailed else { return checks.notRun(.nothingDisclosed) }
    checks.expect(
      shown.contains { $0.disclosesSomething }, .nothingDisclosed,
      "no requested element was returned; \(shown.reduce(0) { $0 + $1.unrequestedElements.count }) unrequested elements "
        + "are omitted",
      isStrict: isStrict)
  }

  private func decide(
    _ document: VerifiedDocument, requestIndex index: Int?
  ) -> (checks: [Check], accepted: AcceptedDocument?) {
    var checks = CheckList(expecting: 8)
    let isRequested = request != nil
    // Without a request every verified element is shown.
    let wanted =
      request == nil
      ? DocumentRequest(docType: document.docType, elements: document.elements.map { ElementRequest($0) })
      : index.flatMap { request?.documents[$0] }
    guard let wanted else {
      checks.failed(.docTypeNotRequested, "\(shown(document.docType)) is returned more often than it was requested")
      return (checks.checks, nil)
    }
    let retention: (ElementReference) -> Retention = { isRequested ? wanted.retention(of: $0) : .none }
    let age = AgeEvaluation(document: document, request: wanted, fallsBackToAgeInYears: fallsBackToAgeInYears, now: now)
    // Each value is made only once, since a portrait is large.
    var requested: [AcceptedDocument.Element] = []
    requested.reserveCapacity(wanted.elements.count)
    var isRequestedAt = [Bool](repeating: false, count: document.elements.count)
    var missing: [ElementRequest] = []
    // Use indices: a loop over the requests copies each one and counts its references.
    for index in wanted.elements.indices
    where !appendValues(of: wanted.elements[index], in: document, to: &requested, &isRequestedAt, retention: retention)
    {
      missing.append(wanted.elements[index])
    }
    let thresholds = wanted.ageThresholds
    let answers = thresholds.compactMap(age.answer)
    let mistyped = checkTypes(of: document, &checks) { index in
      isRequested
        && (isRequestedAt[index]
          || !thresholds.isEmpty && age.mistypedAttestations.contains(document.elements[index]))
    }
    let undecided = thresholds.filter { threshold in !answers.contains { $0.threshold == threshold } }
      .map { ElementReference.ageAttestation($0, ofDocType: document.docType) }
      .filter { !mistyped.contains($0) }
    let lacking = missing.filter(\.isRequired)
    let unrequested =
      isRequested
      ? document.elements.indices.filter { index in
        !isRequestedAt[index] && !answers.contains { $0.provedBy == document.elements[index] }
      }.map { document.elements[$0] } : []
    if isRequested {
      checks.require(
        lacking.isEmpty && undecided.isEmpty, .elementMissing,
        names(
          lacking.map { ($0.element, names($0.alternatives).map { " (nor its alternatives \($0))" } ?? "") }
            + undecided.map { ($0, " (and no other requested element that decides it)") }))
    } else {
      checks.notRun(.elementMissing)
    }
    if isRequested, isStrict {
      checks.require(unrequested.isEmpty, .elementUnexpected, names(unrequested))
    } else {
      checks.notRun(.elementUnexpected)
    }
    checkAge(age, wanted, answers, &checks)
    checkExpiry(document, by: isRequested ? wanted : nil, &checks)
    guard !checks.hasFailed else { return (checks.checks, nil) }
    let deviceSigned = (isRequested ? wanted.elements.map(\.element) : document.deviceSignedElements)
      .compactMap { reference in
        document.deviceSignedValue(of: reference).map {
          AcceptedDocument.Element(reference: reference, value: $0, retention: retention(reference))
        }
      }
    let accepted = AcceptedDocument(
      requestIndex: index, docType: document.docType, elements: requested, deviceSignedElements: deviceSigned,
      ageAnswers: answers, missingElements: missing.map(\.element), unrequestedElements: unrequested,
      retention: .strictest(of: (document.elements + document.deviceSignedElements).map(retention)),
      issuer: document.issuer, validity: document.validity, deviceAuthentication: document.deviceAuthentication,
      revocation: document.revocation)
    return (checks.checks, accepted)
  }

  /// Reports every returned element whose value has another type than its standard prescribes (ISO/IEC 18013-5:2021,
  /// 7.2.1). Such a deviation from the profile is a warning, and rejects in strict mode. For a requested element it
  /// always rejects, since a relying party could not tell a text from the requested date.
  /// - Returns: the mistyped elements that were requested.
  private func checkTypes(
    of document: VerifiedDocument, _ checks: inout CheckList, isRequested: (_ index: Int) -> Bool
  ) -> [ElementReference] {
    let mistyped = document.elements.indices.compactMap { index in
      DocTypeCatalogue.expectedTypes(of: document.elements[index], violatedBy: document.item(at: index))
        .map { (index: index, types: $0) }
    }
    let requested = mistyped.map(\.index).filter(isRequested).map { document.elements[$0] }
    let detail = names(
      mistyped.map { (document.elements[$0.index], " (\($0.types.names.joined(separator: " or ")) expected)") })
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

  /// Checks the document's own expiry date, which is separate from the validity of its signature. The document is valid
  /// until the end of that day. If there is no request, or the request accepts expired documents, an expired document
  /// is only a warning.
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

  /// Appends the values of the element and of its returned alternatives, without duplicates.
  /// - Returns: whether any of these values was returned.
  private func appendValues(
    of request: ElementRequest, in document: VerifiedDocument, to found: inout [AcceptedDocument.Element],
    _ isFoundAt: inout [Bool], retention: (ElementReference) -> Retention
  ) -> Bool {
    func append(_ reference: ElementReference) -> Bool {
      guard let index = document.index(of: reference) else { return false }
      // Two requests may have the same alternative.
      if isFoundAt[index] { return true }
      isFoundAt[index] = true
      let value = ElementValue(document.item(at: index))
      found.append(.init(reference: reference, value: value, retention: retention(reference)))
      return true
    }
    return request.alternatives.reduce(append(request.element)) { append($1) || $0 }
  }
}

extension DocumentReport {
  /// Whether only the check for missing elements failed.
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

extension Code {
  public static let elementTypeInvalid = Code(
    "mdoc.element.type_invalid",
    "An element's type differs from its standard's (only a warning if it was not requested)", "\(iso), 7.2.1",
    .issuer, passes: "Every element has the type that its standard prescribes")
  public static let elementMissing = Code(
    "policy.element_missing", "A requested element was not returned", "\(iso), 8.3.2.1.2.2",
    "The person declined it or the document lacks it. If you do not need it, make it optional.",
    passes: "Every required element was returned")
  public static let elementUnexpected = Code(
    "policy.element_unexpected", "An element that was not requested was returned, and the policy is strict",
    "\(iso), 8.3.2.1.2.2", .wallet, passes: "Nothing unrequested was returned", cases: "E13")
  public static let documentMissing = Code(
    "policy.document_missing", "A required document was not returned, or another was returned twice",
    "\(iso), 8.3.2.1.2.2",
    "The person declined it, has no such document, or presented one twice. Request `document_number` to distinguish "
      + "documents.",
    passes: "Every required document was returned")
  public static let ageContradictory = Code(
    "policy.age_contradictory", "The age attestations contradict each other", "\(iso), 7.2.5", .issuer,
    passes: "The age attestations are consistent")
  public static let ageInconsistent = Code(
    "policy.age_inconsistent", "Birth date, age and age attestations do not agree", "\(iso), 7.2.5", .issuer,
    passes: "The age attestations match the date of birth", warns: true)
  public static let ageBelowMinimum = Code(
    "policy.age_below_minimum", "The person is younger than the minimum age", "\(iso), 7.2.5",
    "Refuse the person; the document itself is genuine.", passes: "The required age is reached")
  public static let documentExpired = Code(
    "policy.document_expired", "The document's own expiry date has passed", "\(iso), 7.2.1",
    "Request a current document; with `accept_expired`, an expired one is accepted with a warning.",
    passes: "The document's own expiry date has not passed")
  public static let nothingDisclosed = Code(
    "policy.nothing_disclosed", "The response is genuine but discloses nothing that was requested",
    "\(iso), 8.3.2.1.2.2",
    "It proves only that such a document exists; require the elements that you need.",
    passes: "Something requested was disclosed", warns: true)
}

extension CodeGroup {
  public static let acceptance = CodeGroup(
    "Requested data",
    [
      .elementTypeInvalid, .elementMissing, .elementUnexpected, .documentMissing, .ageContradictory, .ageInconsistent,
      .ageBelowMinimum, .documentExpired, .nothingDisclosed,
    ])
}
