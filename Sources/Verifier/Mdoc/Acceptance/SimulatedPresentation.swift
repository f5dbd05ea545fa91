import Base
import CBOR
import COSE

/// The answer of Apple's simulator, or of a device with Apple's test profile: data that no issuer signed, for a
/// developer to look at in test mode.
///
/// It is a type of its own, so that it stands beside a refusal and never in place of an `AcceptedPresentation`. It
/// exists only if every document is simulated: a document that claims an issuer never gets in.
public struct SimulatedPresentation: Sendable {
  public struct Document: Sendable, CustomStringConvertible, CustomReflectable {
    public let docType: String
    /// The requested elements, unverified.
    public let elements: [AcceptedDocument.Element]
    /// The answers that these elements would give to the requested age thresholds.
    public let ageAnswers: [AgeAnswer]

    public var description: String { "SimulatedPresentation.Document(\(docType), redacted)" }
    public var customMirror: Mirror { Mirror(self, children: []) }
  }

  public let documents: [Document]

  init?(
    _ response: DeviceResponse, transcript: SessionTranscript, request: PresentationRequest?,
    fallsBackToAgeInYears: Bool, at now: Timestamp
  ) {
    let isSimulated = response.documents.allSatisfy {
      let recognition = AppleMockRecognition(document: $0, transcript: transcript)
      return recognition.code != nil && !recognition.claimsIssuer
    }
    guard isSimulated, !response.documents.isEmpty else { return nil }
    documents = response.documents.map { document in
      let wanted =
        request?.documents.first { $0.docType.hasSameBytes(as: document.docType) }
        ?? DocumentRequest(docType: document.docType, elements: [])
      let source = SimulatedElements(of: document)
      let age = AgeEvaluation(
        document: source, request: wanted, fallsBackToAgeInYears: fallsBackToAgeInYears, now: now)
      return Document(
        docType: shown(document.docType, limit: 256), elements: source.elements(askedFor: wanted),
        ageAnswers: wanted.ageThresholds.compactMap(age.answer))
    }
  }
}

/// The elements of a simulated document.
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

  func elements(askedFor wanted: DocumentRequest) -> [AcceptedDocument.Element] {
    items.compactMap { item in
      let request = wanted.elements.first {
        $0.element == item.reference || $0.alternatives.contains(item.reference)
      }
      return request.map { .init(reference: item.reference, value: ElementValue(item.value), retention: $0.retention) }
    }
  }
}

/// Recognises the answers that Apple's simulator and developer profile make (sample archive, README), so that they
/// are refused by name. They have no document signer; a certificate with a bad signature is a forgery, not a mock.
struct AppleMockRecognition {
  let document: Document
  let transcript: SessionTranscript

  /// The code to refuse with; nil if the document is not a mock.
  var code: Code? {
    // The last of the message's four fields is the signature, which is blank in a mock. It is looked at first, so that
    // a real document's message need not be read here.
    guard let issuerAuth = document.issuerAuth,
      let last = issuerAuth.elements?.dropFirst(3).first(where: { _ in true }), isBlank(last.bytes ?? []),
      let issuer = try? COSESign1(parsing: issuerAuth, readsPastSlips: true)
    else { return nil }
    if let deviceSignature, isBlank(deviceSignature.signature) { return .appleSimulatorAnswer }
    guard issuer.headers.x5chain == nil else { return nil }
    // No issuer is tied to this object. Its key only tells a device with the developer profile from noise.
    guard let payload = issuer.payload, let mso = try? MobileSecurityObject(parsing: payload) else { return nil }
    var checks = CheckList()
    let device = DeviceAuthentication(
      document: document, mso: mso, transcript: transcript, macPolicy: .notAllowed, issuerKey: nil)
    return device.run(into: &checks) == .signature ? .appleProfileAnswer : nil
  }

  /// Whether the document carries a certificate: it may then be a real one with its signatures blanked, which is
  /// refused and not shown.
  var claimsIssuer: Bool {
    document.issuerAuth.flatMap { try? COSESign1(parsing: $0, readsPastSlips: true) }?.headers.x5chain != nil
  }

  private var deviceSignature: COSESign1? {
    (document.deviceSigned?.deviceSignature).flatMap { try? COSESign1(parsing: $0, readsPastSlips: true) }
  }

  /// Whether a signature is empty or all zeros.
  private func isBlank(_ signature: ArraySlice<UInt8>) -> Bool { signature.allSatisfy { $0 == 0 } }
}
