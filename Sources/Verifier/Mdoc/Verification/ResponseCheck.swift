import Base

/// Checks of the DeviceResponse as a whole (ISO/IEC 18013-5:2021, 8.3.2.1.2.2).
struct ResponseCheck {
  let part: PresentedResponse.Part
  let request: PresentationRequest?
  let maxDocuments: Int?
  /// Strict mode: findings that otherwise only warn reject the answer.
  let isStrict: Bool

  private var response: DeviceResponse { part.response }

  func run(into checks: inout CheckList) {
    checks.require(isMajorVersion1, .responseVersionUnsupported)
    let isOK = response.status == 0
    checks.require(isOK, .responseStatusNotOK, "status \(response.status)")
    checks.require(documentErrorsAreHarmless, .documentErrorsPresent)
    checkKinds(isOK: isOK, &checks)
    checks.require(isExpectedNumber, .documentUnexpected, "\(response.documents.count) documents")
    checks.expect(response.slips.isEmpty, .responseDeviation, slips, isStrict: isStrict)
  }

  /// Every check of one response, in the order in which they are made.
  static let codes: [Code] = [
    .responseVersionUnsupported, .responseStatusNotOK, .documentErrorsPresent, .zeroKnowledgeUnsupported,
    .encryptedDocumentsUnsupported, .documentsMissing, .documentUnexpected, .responseDeviation,
  ]

  /// The second edition has three kinds of documents; only one is read here. An answer that has nothing but other kinds
  /// is refused. Beside readable documents the other kinds are not looked at, and the report says so.
  private func checkKinds(isOK: Bool, _ checks: inout CheckList) {
    let hasDocuments = !response.documents.isEmpty
    let others = [
      (response.zeroKnowledgeDocuments, Code.zeroKnowledgeUnsupported, "zero-knowledge proofs"),
      (response.encryptedDocuments, .encryptedDocumentsUnsupported, "encrypted documents"),
    ]
    for (count, code, name) in others {
      if count > 0, hasDocuments {
        checks.notRun(code, "\(count) \(name) beside the documents were not looked at")
      } else {
        checks.require(count == 0, code, "\(count) \(name)")
      }
    }
    if isOK, others.allSatisfy({ $0.0 == 0 }) {
      checks.require(hasDocuments, .documentsMissing)
    } else {
      checks.notRun(.documentsMissing)
    }
  }

  private var slips: String {
    let shown = response.slips.prefix(Limits.reportedFaults)
    let more = response.slips.count - shown.count
    return shown.joined(separator: "; ") + (more > 0 ? "; and \(more) more" : "")
  }

  /// Whether the version is `1.` and digits: minor versions only add (the second edition has 1.1).
  private var isMajorVersion1: Bool {
    let version = Array(response.version.utf8)
    return version.count > 2 && version.starts(with: "1.".utf8)
      && version[2...].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// Whether `documentErrors` may be ignored. That is so only if any one of several documents satisfies the request,
  /// and each error is about a requested document that was not returned.
  private var documentErrorsAreHarmless: Bool {
    response.documentErrors.allSatisfy { docType in
      guard let request, !request.requiresAllDocuments else { return false }
      return request.documents.contains { $0.docType.hasSameBytes(as: docType) }
        && !response.documents.contains { $0.docType.hasSameBytes(as: docType) }
    }
  }

  /// Whether a document of this type was asked for. One that was not is refused by another check
  /// (`docTypeNotRequested`).
  private func isRequested(_ docType: String) -> Bool {
    request?.documents.contains { $0.docType.hasSameBytes(as: docType) } ?? true
  }

  private var isExpectedNumber: Bool {
    let documents = response.documents
    if let docType = part.docType {
      return documents.count <= 1
        && documents.allSatisfy { $0.docType.hasSameBytes(as: docType) || !isRequested($0.docType) }
    }
    if let maxDocuments, documents.count > maxDocuments { return false }
    guard let request else { return true }
    guard request.requiresAllDocuments else { return documents.count <= 1 }
    return documents.count <= request.documents.count
      && documents.map(\.docType).allSatisfy { docType in
        documents.count { $0.docType.hasSameBytes(as: docType) }
          <= max(1, request.documents.count { $0.docType.hasSameBytes(as: docType) })
      }
  }
}
