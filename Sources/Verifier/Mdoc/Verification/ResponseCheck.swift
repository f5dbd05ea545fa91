import Base

/// Checks of the DeviceResponse as a whole (ISO/IEC 18013-5:2021, 8.3.2.1.2.2).
struct ResponseCheck {
  let part: PresentedResponse.Part
  let request: PresentationRequest?
  let maxDocuments: Int?
  /// Whether proofs were asked for, so that they are read.
  let readsProofs: Bool
  /// Strict mode: findings that otherwise only warn reject the answer.
  let isStrict: Bool

  private var response: DeviceResponse { part.response }

  func run(into checks: inout CheckList) {
    checks.require(
      isMajorVersion1, .responseVersionUnsupported,
      "version is \"\(shown(response.version))\", expected is \"1.0\" or a later 1.x")
    let isOK = response.status == 0
    checks.require(isOK, .responseStatusNotOK, "status \(response.status)")
    checks.require(
      documentErrorsAreHarmless, .documentErrorsPresent, "documentErrors names \(shownList(response.documentErrors))")
    checkKinds(isOK: isOK, &checks)
    checks.require(isExpectedNumber, .documentUnexpected, "\(count) documents")
    Self.note(response.slips, isStrict: isStrict, into: &checks)
  }

  /// Notes slips that were read past (`Slip`); those of what is signed are found after the others.
  static func note(_ slips: [String], isStrict: Bool, into checks: inout CheckList) {
    let shown = slips.prefix(Limits.reportedFaults).joined(separator: "; ")
    let more = slips.count - Limits.reportedFaults
    checks.expect(
      slips.isEmpty, .responseDeviation, shown + (more > 0 ? "; and \(more) more" : ""), isStrict: isStrict)
  }

  /// Every check of one response, in the order in which they are made.
  static let codes: [Code] = [
    .responseVersionUnsupported, .responseStatusNotOK, .documentErrorsPresent, .zeroKnowledgeUnsupported,
    .zkPlainNotAccepted, .encryptedDocumentsUnsupported, .documentsMissing, .documentUnexpected, .responseDeviation,
  ]

  /// The second edition has three kinds of documents. Encrypted ones are never read here, and proofs only if the request
  /// asks for them. An answer that has nothing but kinds that are not read is refused. Beside readable documents the
  /// other kinds are not looked at, and the report says so.
  private func checkKinds(isOK: Bool, _ checks: inout CheckList) {
    let hasDocuments = count > 0
    let others = [
      (readsProofs ? 0 : response.zkDocuments.count, Code.zeroKnowledgeUnsupported, "zero-knowledge proofs"),
      (response.encryptedDocuments, .encryptedDocumentsUnsupported, "encrypted documents"),
    ]
    if readsProofs {
      checks.require(
        plainIsAccepted, .zkPlainNotAccepted,
        "\(response.documents.count) under documents, \(response.zkDocuments.count) under zkDocuments")
    } else {
      checks.notRun(.zkPlainNotAccepted)
    }
    for (count, code, name) in others {
      if count > 0, hasDocuments {
        checks.notRun(code, "\(count) \(name) beside the documents were not looked at")
      } else {
        checks.require(count == 0, code, "\(count) \(name)")
      }
    }
    if isOK, others.allSatisfy({ $0.0 == 0 }) {
      checks.require(hasDocuments, .documentsMissing, "documents is missing or empty")
    } else {
      checks.notRun(.documentsMissing)
    }
  }

  /// The documents of the kinds that are read.
  private var count: Int { response.documents.count + (readsProofs ? response.zkDocuments.count : 0) }

  /// The types of the documents of the kinds that are read.
  private var returned: [String] {
    response.documents.map(\.docType) + (readsProofs ? response.zkDocuments.compactMap(ZkDocument.docType) : [])
  }

  /// Whether plain documents may be in this response: the query asks for them, there is no proof beside them, and no
  /// proof is required of their type.
  private var plainIsAccepted: Bool {
    switch part.query?.kind {
    case .proof: return response.documents.isEmpty
    case .plain: return response.zkDocuments.isEmpty
    case nil: break
    }
    return response.documents.allSatisfy { document in
      let wanted = request?.documents.first { $0.docType.hasSameBytes(as: document.docType) }
      return wanted?.proofs?.isRequired != true
    }
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
        && !returned.contains { $0.hasSameBytes(as: docType) }
    }
  }

  /// Whether a document of this type was asked for. One that was not is refused by another check
  /// (`docTypeNotRequested`).
  private func isRequested(_ docType: String) -> Bool {
    request?.documents.contains { $0.docType.hasSameBytes(as: docType) } ?? true
  }

  private var isExpectedNumber: Bool {
    if let docType = part.query?.docType {
      return count <= 1 && returned.allSatisfy { $0.hasSameBytes(as: docType) || !isRequested($0) }
    }
    // Without a request too, no answer may cost more than so many proofs.
    if let maxDocuments, count > maxDocuments { return false }
    guard let request else { return !readsProofs || response.zkDocuments.count <= 1 }
    // Asked for any one of several, wallets may return each that they have. A proof is dear, so one is enough there.
    guard request.requiresAllDocuments || !readsProofs || response.zkDocuments.count <= 1 else { return false }
    let types = response.documents.map(\.docType)
    return count <= request.documents.count
      && types.allSatisfy { docType in
        types.count { $0.hasSameBytes(as: docType) }
          <= max(1, request.documents.count { $0.docType.hasSameBytes(as: docType) })
      }
  }
}
