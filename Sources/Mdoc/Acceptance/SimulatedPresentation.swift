import Primitives

/// What Apple's simulator answered: data that nobody signed, for a developer to look at in test mode.
///
/// It is a type of its own, beside a refusal and never in place of an `AcceptedPresentation`, and it exists only where
/// every document is a simulator's: nothing that claims an issuer ends up here.
public struct SimulatedPresentation: Sendable {
  public struct Document: Sendable, CustomStringConvertible, CustomReflectable {
    public let docType: String
    /// The requested elements, unverified.
    public let elements: [AcceptedDocument.Element]

    public var description: String { "SimulatedPresentation.Document(\(docType), redacted)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
  }

  public let documents: [Document]

  init?(_ response: DeviceResponse, transcript: SessionTranscript, request: PresentationRequest?) {
    let isSimulated = response.documents.allSatisfy {
      let recognition = AppleMockRecognition(document: $0, transcript: transcript)
      return recognition.code == .appleSimulatorAnswer && !recognition.claimsIssuer
    }
    guard isSimulated, !response.documents.isEmpty else { return nil }
    documents = response.documents.map { document in
      let wanted = request?.documents.first { $0.docType.hasSameBytes(as: document.docType) }?.elements ?? []
      let elements = document.issuerSigned.flatMap { namespace in
        namespace.items.compactMap { item -> AcceptedDocument.Element? in
          let reference = ElementReference(namespace.name, item.identifier)
          guard let request = wanted.first(where: { $0.element == reference }) else { return nil }
          return .init(
            reference: reference, value: ElementValue(item.value), intentToRetain: request.intentToRetain)
        }
      }
      return Document(docType: shown(document.docType, limit: 256), elements: elements)
    }
  }
}
