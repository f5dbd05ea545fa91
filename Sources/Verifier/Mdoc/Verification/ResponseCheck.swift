import Base
import CBOR
import Cryptography

/// Checks of the DeviceResponse as a whole (ISO/IEC 18013-5:2021, 8.3.2.1.2.2).
struct ResponseCheck {
  let part: PresentedResponse.Part
  let request: PresentationRequest?
  let maxDocuments: Int?
  /// Whether proofs were requested, and are therefore read.
  let readsProofs: Bool
  let isStrict: Bool

  private var response: DeviceResponse { part.response }

  func run(into checks: inout CheckList) {
    checks.require(
      isMajorVersion1, .responseVersionUnsupported,
      "version is \"\(shown(response.version))\", expected \"1.0\" or a later 1.x")
    let isOK = response.status == 0
    checks.require(isOK, .responseStatusNotOK, "status \(response.status)")
    checks.require(
      documentErrorsAreHarmless, .documentErrorsPresent, "documentErrors names \(shownList(response.documentErrors))")
    checkKinds(isOK: isOK, &checks)
    checks.require(isExpectedNumber, .documentUnexpected, "\(count) documents")
    Self.note(response.deviations, isStrict: isStrict, into: &checks)
  }

  /// Records tolerated deviations (`Deviation`). Deviations in signed data are found later than the others.
  static func note(_ deviations: [String], isStrict: Bool, into checks: inout CheckList) {
    let shown = deviations.prefix(Limits.reportedFaults).joined(separator: "; ")
    let more = deviations.count - Limits.reportedFaults
    checks.expect(
      deviations.isEmpty, .responseDeviation, shown + (more > 0 ? "; and \(more) more" : ""), isStrict: isStrict)
  }

  /// Every check of one response, in order of execution.
  static let codes: [Code] = [
    .responseVersionUnsupported, .responseStatusNotOK, .documentErrorsPresent, .zeroKnowledgeUnsupported,
    .zkPlainNotAccepted, .encryptedDocumentsUnsupported, .documentsMissing, .documentUnexpected, .responseDeviation,
  ]

  /// The second edition has three kinds of documents. Encrypted documents are never read here, and proofs only if
  /// requested. A response without any readable document is rejected. Otherwise unreadable documents are skipped, and
  /// the report states this.
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
        checks.notRun(code, "\(count) \(name) beside the documents were not examined")
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

  /// The documents whose kind is read.
  private var count: Int { response.documents.count + (readsProofs ? response.zkDocuments.count : 0) }

  /// The types of the documents whose kind is read.
  private var returned: [String] {
    response.documents.map(\.docType) + (readsProofs ? response.zkDocuments.compactMap(ZkDocument.docType) : [])
  }

  /// Whether this response may contain plain documents. The query must request plain documents, the response must have
  /// no proof, and no proof of their type may be required.
  private var plainIsAccepted: Bool {
    switch part.query?.kind {
    case .proof: response.documents.isEmpty
    case .plain: response.zkDocuments.isEmpty
    case nil:
      response.documents.allSatisfy { request?.document(ofType: $0.docType)?.proofs?.isRequired != true }
    }
  }

  /// Whether the version is `1.` and digits. Minor versions only add members (the second edition has 1.1).
  private var isMajorVersion1: Bool {
    let version = Array(response.version.utf8)
    return version.count > 2 && version.starts(with: "1.".utf8)
      && version[2...].allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }

  /// Whether `documentErrors` may be ignored. This is so only if one of several documents satisfies the request, and
  /// each error concerns a requested document that was not returned.
  private var documentErrorsAreHarmless: Bool {
    response.documentErrors.allSatisfy { docType in
      request?.requiresAllDocuments == false && request?.document(ofType: docType) != nil
        && !returned.contains { $0.hasSameBytes(as: docType) }
    }
  }

  private var isExpectedNumber: Bool {
    if let docType = part.query?.docType {
      // An unrequested type fails a different check (`docTypeNotRequested`).
      let isRequested = { (docType: String) in request.map { $0.document(ofType: docType) != nil } ?? true }
      return count <= 1 && returned.allSatisfy { $0.hasSameBytes(as: docType) || !isRequested($0) }
    }
    // The number of proofs is bounded even without a request.
    if let maxDocuments, count > maxDocuments { return false }
    guard let request else { return !readsProofs || response.zkDocuments.count <= 1 }
    // A wallet may return all documents when the request needs only one of them. Proofs are expensive to verify, so
    // only one is accepted.
    guard request.requiresAllDocuments || !readsProofs || response.zkDocuments.count <= 1 else { return false }
    let types = response.documents.map(\.docType)
    return count <= request.documents.count
      && types.allSatisfy { docType in
        types.count { $0.hasSameBytes(as: docType) }
          <= max(1, request.documents.count { $0.docType.hasSameBytes(as: docType) })
      }
  }
}

/// An opened response, and the transcript that its device authentication must cover. Only a protocol makes a
/// `PresentedResponse`, with the protocol's own transcript.
public struct PresentedResponse: ~Copyable, Sendable {
  /// The DeviceResponses. There is one for the whole request or, if every document has its own query, one for each
  /// query.
  let parts: [Part]
  let transcript: SessionTranscript
  /// The reader's ephemeral private key, for checking a device MAC (ISO/IEC 18013-5:2021, 9.1.3.5); nil if the device
  /// must sign.
  let readerKey: PrivateKey?
  /// Transcripts of other sessions. If the device did not sign for this session, they show for which session it signed.
  /// They only explain a rejection, and never cause acceptance.
  let alternatives: [AlternativeTranscript]
  /// Whether the rules of Apple's in-app protocol apply: one document, `age_in_years` may replace age attestations, and
  /// mocks are recognized.
  let isAppleInApp: Bool
  /// Whether the data of a simulator's response are shown beside its rejection.
  let showsSimulatedResponses: Bool
  /// Whether the responses' envelope contains unread data.
  let leavesUnread: Bool

  package struct Part: Sendable {
    let response: DeviceResponse
    /// The part's query; nil if the part responds to the whole request.
    let query: Query?

    package init(_ response: DeviceResponse, query: Query? = nil) {
      self.response = response
      self.query = query
    }
  }

  /// A query for one document, with its own id in the protocol.
  package struct Query: Sendable {
    /// The index of the query's document in the request.
    package let index: Int
    let docType: String
    let kind: DocumentKind

    package init(_ index: Int, docType: String, kind: DocumentKind) {
      self.index = index
      self.docType = docType
      self.kind = kind
    }
  }

  /// A document with its issuer's signature, or a proof about such a document.
  package enum DocumentKind: Sendable {
    case plain, proof
  }

  package init(
    parts: [Part], transcript: SessionTranscript, readerKey: PrivateKey?, alternatives: [AlternativeTranscript] = [],
    isAppleInApp: Bool = false, showsSimulatedResponses: Bool = false, leavesUnread: Bool = false
  ) {
    self.parts = parts
    self.leavesUnread = leavesUnread
    self.transcript = transcript
    self.readerKey = readerKey
    self.alternatives = alternatives
    self.isAppleInApp = isAppleInApp
    self.showsSimulatedResponses = showsSimulatedResponses
  }

  /// The signature inputs of each document, in the order of the response.
  package var signatureInputs: [SignatureInputs] { parts.flatMap { $0.response.signatureInputs(over: transcript) } }
}

/// A transcript that a wallet may use by mistake, with its difference from this session's: `another configured origin`.
///
/// It only explains a rejection in the report, and never causes acceptance.
public struct AlternativeTranscript: Sendable {
  /// A phrase that completes "the device signed for …". It contains configured values, never a nonce or a key.
  public let difference: String
  private let makeTranscript: @Sendable () -> SessionTranscript

  /// Made only on demand, since a correct response needs no alternative transcript.
  public var transcript: SessionTranscript { makeTranscript() }

  package init(_ difference: String, _ transcript: @autoclosure @escaping @Sendable () -> SessionTranscript) {
    self.difference = difference
    makeTranscript = transcript
  }
}

extension Array<AlternativeTranscript> {
  /// The difference of the first alternative that fits; nil if none fits.
  package func difference(where fits: (SessionTranscript) -> Bool) -> String? {
    first { fits($0.transcript) }?.difference
  }
}

/// The encoded bytes of a SessionTranscript (ISO/IEC 18013-5:2021, 9.1.5.1). The verifier makes them itself. They never
/// come from the response.
///
/// They contain the session's nonce, so the type has no mirror and a redacted description.
public struct SessionTranscript: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
  public let encoded: [UInt8]

  /// Reads an array of three items: device engagement, reader key (or null), handover.
  public init(encoded: [UInt8]) throws(MdocParseError) {
    let item: CBORItem
    do throws(CBORError) {
      item = try CBORItem(parsing: encoded)
    } catch {
      throw MdocParseError(error.code, "at byte \(error.offset)")
    }
    guard item.kind == .array, item.count == 3 else { throw MdocParseError(.responseMalformed) }
    self.encoded = encoded
  }

  /// Reads a transcript in either of its two forms: the array, or SessionTranscriptBytes, with the array inside tag 24.
  public init(received bytes: [UInt8]) throws(MdocParseError) {
    let inner = (try? CBORItem(parsing: bytes))?.embedded.map { Array($0.encoded) }
    try self.init(encoded: inner ?? bytes)
  }

  /// A transcript that one of our own protocols has written.
  package init(written value: CBORValue) { encoded = value.encoded() }

  /// SessionTranscriptBytes: `#6.24(bstr .cbor SessionTranscript)`.
  public var taggedBytes: [UInt8] { CBORValue.tagged(24, .bytes(encoded)).encoded() }

  public var description: String { "SessionTranscript(\(encoded.count) bytes)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Code {
  public static let responseMalformed = Code(
    "mdoc.response.malformed", "The DeviceResponse lacks a member or has one of another type", "\(iso), 8.3.2.1.2.2",
    "Compare the detail with the received bytes: a whole DeviceResponse is expected. Report it to its producer, "
      + "usually "
      + "the wallet's maker.",
    passes: "The response has the prescribed structure")
  public static let responseVersionUnsupported = Code(
    "mdoc.response.version_unsupported", "The DeviceResponse's major version is not 1", "\(iso), 8.3.2.1.2.2",
    .wallet, passes: "The response's version is known")
  public static let responseStatusNotOK = Code(
    "mdoc.response.status_not_ok", "The wallet reports an error status", "\(iso), 8.3.2.1.2.3", .wallet,
    passes: "The wallet reports success")
  public static let documentErrorsPresent = Code(
    "mdoc.response.document_errors",
    "The wallet reports an error for a document that it returned or that was not requested", "\(iso), 8.3.2.1.2.2",
    .wallet, passes: "The wallet reports no error for a document")
  public static let documentsMissing = Code(
    "mdoc.response.documents_missing", "The DeviceResponse holds no document", "\(iso), 8.3.2.1.2.2", .wallet,
    passes: "The response holds a document")
  public static let documentUnexpected = Code(
    "mdoc.response.document_unexpected", "The DeviceResponse holds more documents than were requested",
    "\(iso), 8.3.2.1.2.2", .wallet, passes: "The response holds no more documents than were requested")
  public static let docTypeNotRequested = Code(
    "mdoc.response.doc_type_not_requested", "A document's type was not requested", "\(iso), 8.3.2.1.2.2",
    .wallet, passes: "Every document is of a requested type")
  public static let zeroKnowledgeUnsupported = Code(
    "mdoc.response.zero_knowledge_unsupported",
    "The response holds zero-knowledge proofs, which were not requested and are not verified here",
    "ISO/IEC 18013-5, second edition, DeviceResponse: zkDocuments",
    "If proofs were requested, configure the folder of their circuits. If not, report it to the wallet's maker.",
    passes: "The response holds no unrequested proof", cases: "Z65")
  public static let encryptedDocumentsUnsupported = Code(
    "mdoc.response.encrypted_documents_unsupported",
    "The response holds encrypted documents, which were not requested and are not opened here",
    "ISO/IEC 18013-5, second edition, DeviceResponse: encryptedDocuments",
    "Ask the wallet for documents; report it to the wallet's maker if it encrypts them unrequested.",
    passes: "The response holds no encrypted document")
  public static let responseDeviation = Code(
    "mdoc.response.deviation",
    "A member that must be absent is null, undefined, empty, or a copy of the signed payload; it is ignored",
    "\(iso), 8.3.2.1.2.2, 9.1.2.4 and 9.1.3.6",
    "Nothing in the response depends on it; report it to the wallet's maker.",
    passes: "The response's encoding has no deviations", warns: true)
}

extension CodeGroup {
  public static let response = CodeGroup(
    "Response",
    [
      .responseMalformed, .responseVersionUnsupported, .responseStatusNotOK, .documentErrorsPresent, .documentsMissing,
      .documentUnexpected, .docTypeNotRequested, .zeroKnowledgeUnsupported, .encryptedDocumentsUnsupported,
      .responseDeviation,
    ])
}
