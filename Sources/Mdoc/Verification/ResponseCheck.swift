import Primitives

/// Checks of the DeviceResponse as a whole (ISO/IEC 18013-5:2021, 8.3.2.1.2.2).
struct ResponseCheck {
  let part: PresentedResponse.Part
  let request: PresentationRequest?
  let maxDocuments: Int?

  private var response: DeviceResponse { part.response }

  func run(into checks: inout CheckList) {
    checks.require(isMajorVersion1, .responseVersionUnsupported)
    let isOK = response.status == 0
    checks.require(isOK, .responseStatusNotOK, "status \(response.status)")
    checks.require(documentErrorsAreHarmless, .documentErrorsPresent)
    if isOK {
      checks.require(!response.documents.isEmpty, .documentsMissing)
    } else {
      checks.notRun(.documentsMissing)
    }
    checks.require(isExpectedNumber, .documentUnexpected, "\(response.documents.count) documents")
  }

  /// `1` or `1.x`: minor versions only add (the second edition's 1.1).
  private var isMajorVersion1: Bool {
    let version = Array(response.version.utf8)
    return version.count > 2 && version.starts(with: "1.".utf8)
      && version[2...].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// An error may only excuse another document of an any-of request than the one returned.
  private var documentErrorsAreHarmless: Bool {
    response.documentErrors.allSatisfy { docType in
      guard let request, !request.requiresAllDocuments else { return false }
      return request.documents.contains { $0.docType.hasSameBytes(as: docType) }
        && !response.documents.contains { $0.docType.hasSameBytes(as: docType) }
    }
  }

  /// A type that nobody asked for is refused by a check of its own.
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
