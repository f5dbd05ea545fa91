import Base
import CBOR

/// The response of Apple's simulator, or of a device with Apple's test profile. No issuer signed its data. A developer
/// can view it in test mode.
///
/// It is a separate type, so that it accompanies a rejection and never replaces an `AcceptedPresentation`. It exists
/// only if every document is simulated and no document claims an issuer.
public struct SimulatedPresentation: Sendable {
  public struct Document: Sendable, CustomStringConvertible, CustomReflectable {
    public let docType: String
    /// The requested elements, unverified.
    public let elements: [AcceptedDocument.Element]
    /// The results of these elements for the requested age thresholds.
    public let ageAnswers: [AgeAnswer]

    public var description: String { "SimulatedPresentation.Document(\(docType), redacted)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
  }

  public let documents: [Document]

  init?(_ response: DeviceResponse, transcript: SessionTranscript, rules: AcceptanceRules) {
    // A document with a certificate may be a real document with blanked signatures. Such a document is not shown.
    let isSimulated = response.documents.allSatisfy {
      AppleMockRecognition(document: $0, transcript: transcript).code != nil
        && $0.issuerMessage?.headers.x5chain == nil
    }
    guard isSimulated, !response.documents.isEmpty else { return nil }
    documents = response.documents.map { document in
      let wanted =
        rules.request?.document(ofType: document.docType) ?? DocumentRequest(docType: document.docType, elements: [])
      let source = SimulatedElements(of: document)
      let age = AgeEvaluation(
        document: source, request: wanted, fallsBackToAgeInYears: rules.fallsBackToAgeInYears, now: rules.now)
      return Document(
        docType: shown(document.docType, limit: 256), elements: source.elements(requestedBy: wanted),
        ageAnswers: wanted.ageThresholds.compactMap(age.answer))
    }
  }
}

private struct SimulatedElements: AgeSource {
  let docType: String
  private let items: [(reference: ElementReference, value: CBORItem)]

  init(of document: Document) {
    docType = document.docType
    var names: Set<ElementReference> = []
    items = document.issuerSigned.flatMap { namespace in
      namespace.items.map { (ElementReference(namespace.name, $0.identifier), $0.value) }
    }.filter { names.insert($0.0).inserted }
  }

  subscript(element: ElementReference) -> ElementValue? {
    items.first { $0.reference == element }.map { ElementValue($0.value) }
  }

  func forEachElement(_ body: (ElementReference, CBORItem) -> Void) {
    for item in items { body(item.reference, item.value) }
  }

  func elements(requestedBy wanted: DocumentRequest) -> [AcceptedDocument.Element] {
    items.compactMap { item in
      let request = wanted.elements.first {
        $0.element == item.reference || $0.alternatives.contains(item.reference)
      }
      return request.map { .init(reference: item.reference, value: ElementValue(item.value), retention: $0.retention) }
    }
  }
}
