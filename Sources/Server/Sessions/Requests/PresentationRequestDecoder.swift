import Base
import Longfellow
import Mdoc
import Presentation

/// Makes a `PresentationRequest` of what a relying party asks for, under the rules that no schema states: the creation of
/// a session and `mdoc verify --request` share it. Faults carry JSON pointers.
package struct PresentationRequestDecoder: Sendable {
  private let family: ProtocolFamily
  private let protocols: [String]
  private let retention: RetentionPolicy
  private let proofs: ProofRules

  /// What proofs can be asked for.
  package struct ProofRules: Sendable {
    /// The circuits at hand.
    package let circuits: [KnownCircuit]
    /// What has to be known about revocation.
    package let revocation: RevocationPolicy

    package init(circuits: [KnownCircuit] = [], revocation: RevocationPolicy = .off) {
      self.circuits = circuits
      self.revocation = revocation
    }
  }

  /// The family decides on age thresholds: 1–125 in-app, 1–99 elsewhere, and no `age_in_years` beside one in-app.
  ///
  /// - Parameter protocols: those of the family that have to say it all. Empty for a DeviceResponse without a protocol.
  package init(
    for family: ProtocolFamily, protocols: [String] = [], retention: RetentionPolicy = RetentionPolicy(),
    proofs: ProofRules = ProofRules()
  ) {
    self.family = family
    self.protocols = protocols
    self.retention = retention
    self.proofs = proofs
  }

  /// Reads an object of what is asked for, and nothing else.
  package func decode(_ json: JSON) throws(ServiceError) -> PresentationRequest {
    var faults = Faults()
    guard let input = PresentationInput.shape.read(json, "", &faults) else { throw faults.refusal }
    let request = request(input, &faults)
    guard faults.isEmpty else { throw faults.refusal }
    return request
  }

  func request(_ input: PresentationInput, _ faults: inout Faults) -> PresentationRequest {
    var requests: [DocumentRequest] = []
    for (index, document) in input.documents.enumerated() {
      let pointer = "/documents/\(index)"
      let isRepeated = requests.contains { $0.docType.hasSameBytes(as: document.docType) }
      if isRepeated, !canRepeat {
        let way = protocols.first { !ProtocolFamily.namesQueries($0) }.map { "by `\($0)`" } ?? "without OpenID4VP"
        faults.add(pointer + "/doc_type", "is asked for twice; each type can be asked for once \(way)")
      }
      requests.append(self.document(document, at: pointer, &faults))
    }
    if input.requiresAllDocuments { checkRepeated(requests, &faults) }
    let elements = requests.flatMap(\.elements)
    if elements.reduce(0, { $0 + 1 + $1.alternatives.count }) > Limits.requestedElements {
      faults.add("/documents", "ask for more than \(Limits.requestedElements) elements")
    }
    if input.purposeHint != nil, family == .inApp { faults.add("/purpose_hint", "does not go with `apple-in-app`") }
    var request = PresentationRequest(documents: requests, requiresAllDocuments: input.requiresAllDocuments)
    request.purposeHint = input.purposeHint
    return request
  }

  /// Whether every protocol can ask for a type twice.
  private var canRepeat: Bool { !protocols.isEmpty && protocols.allSatisfy(ProtocolFamily.namesQueries) }

  /// Two documents of one type are told apart by their numbers, which proofs hide.
  private func checkRepeated(_ requests: [DocumentRequest], _ faults: inout Faults) {
    for (index, request) in requests.enumerated()
    where requests.count(where: { $0.docType.hasSameBytes(as: request.docType) }) > 1 {
      if request.proofs != nil {
        faults.add(
          "/documents/\(index)/zk", "cannot be asked for where `all_documents` has two documents of one type",
          code: .zkNotProvable)
      }
      let number = ElementReference.documentNumber(ofDocType: request.docType)
      if !request.elements.contains(where: { $0.element == number && $0.isRequired && $0.alternatives.isEmpty }) {
        faults.add(
          "/documents/\(index)/elements",
          "must have `document_number` of `\(number.namespace)`, required and without alternatives: two documents of one "
            + "type are told apart by it")
      }
    }
  }

  private func document(
    _ input: DocumentInput, at pointer: String, _ faults: inout Faults
  ) -> DocumentRequest {
    checkDays(input.retainDays, at: pointer, &faults)
    var elements: [ElementRequest] = []
    for (index, wanted) in input.elements.enumerated() {
      let place = "\(pointer)/elements/\(index)"
      for element in self.elements(wanted, of: input, at: place, &faults) {
        checkIntent(element, beside: elements, of: input.docType, at: place, &faults)
        if elements.contains(where: { $0.element == element.element }) {
          // Several of Apple's elements may stand for one of the document's.
          guard wanted.appleElement == nil else { continue }
          faults.add(place, "is asked for twice")
        }
        elements.append(element)
      }
    }
    if input.retainDays != nil, !elements.contains(where: \.intentToRetain) {
      faults.add(pointer + "/retain_days", "goes with elements of `intent_to_retain` true, and there is none")
    }
    var request = DocumentRequest(
      docType: input.docType, elements: elements, ageOver: Set(input.ageOver).sorted(), minimumAge: input.minimumAge)
    request.acceptsExpired = input.acceptsExpired
    checkAges(input, request, at: pointer, &faults)
    if elements.isEmpty, request.ageThresholds.isEmpty, faults.isEmpty { faults.add(pointer, "asks for nothing") }
    if faults.isEmpty { request.proofs = proofs(input.proofs, of: request, at: pointer + "/zk", &faults) }
    return request
  }

  /// One element by its namespace and identifier; or, in-app, what one of Apple's identity elements stands for.
  private func elements(
    _ input: ElementInput, of document: DocumentInput, at pointer: String, _ faults: inout Faults
  ) -> [ElementRequest] {
    let retention = self.retention(input, keptFor: document.retainDays, at: pointer, &faults)
    // Apple and Annex B cannot ask for others in its place.
    let unable = family == .inApp ? family.protocolNames : protocols.filter { $0 == AnnexBProtocol().name }
    if let name = unable.first, !input.alternatives.isEmpty {
      faults.add(pointer + "/alternatives", "cannot be asked for by `\(name)`")
    }
    if let name = input.appleElement {
      for (member, value) in [("namespace", input.namespace), ("identifier", input.identifier)] where value != nil {
        faults.add("\(pointer)/\(member)", "does not go together with `apple_element`")
      }
      let type = family == .inApp ? AppleDocumentType(docType: document.docType) : nil
      if let found = type?.elementRequests(for: name, retention: retention, isRequired: input.isRequired) {
        return found
      }
      let known = type?.elementNames ?? []
      faults.add(
        pointer + "/apple_element",
        family == .inApp
          ? "is none of this document type's: " + (known.isEmpty ? "none" : known.joined(separator: ", "))
            + Spelling.hint(for: name, among: known)
          : "goes with `apple-in-app` only")
      return []
    }
    for (member, value) in [("namespace", input.namespace), ("identifier", input.identifier)] where value == nil {
      faults.add("\(pointer)/\(member)", "is required")
    }
    guard let namespace = input.namespace, let identifier = input.identifier else { return [] }
    let element = ElementReference(namespace, identifier)
    for (index, other) in input.alternatives.enumerated()
    where ([element] + input.alternatives[..<index]).contains(other) {
      faults.add("\(pointer)/alternatives/\(index)", "is asked for twice")
    }
    return [
      ElementRequest(element, retention: retention, isRequired: input.isRequired, alternatives: input.alternatives)
    ]
  }

  /// The element's own days, else its document's, else the policy's.
  private func retention(
    _ input: ElementInput, keptFor days: Int?, at pointer: String, _ faults: inout Faults
  ) -> Retention {
    checkDays(input.retainDays, at: pointer, &faults)
    guard input.intentToRetain else {
      if input.retainDays != nil { faults.add(pointer + "/retain_days", "goes with `intent_to_retain` true only") }
      return .none
    }
    return (input.retainDays ?? days ?? retention.days).map { .days($0) } ?? .unspecified
  }

  /// The configuration's bound is lower than the schema's.
  private func checkDays(_ days: Int?, at pointer: String, _ faults: inout Faults) {
    guard let days, days > retention.longest else { return }
    faults.add(
      pointer + "/retain_days",
      "must be a whole number from \(Limits.retainDays.lowerBound) to \(retention.longest)")
  }

  /// One of Apple's elements has one intent to store, whatever it stands for.
  private func checkIntent(
    _ element: ElementRequest, beside others: [ElementRequest], of docType: String, at pointer: String,
    _ faults: inout Faults
  ) {
    guard family == .inApp, let type = AppleDocumentType(docType: docType),
      let name = type.appleElement(for: element.element),
      others.contains(where: { type.appleElement(for: $0.element) == name && $0.retention != element.retention })
    else { return }
    faults.add(
      pointer, "is asked for within Apple's `\(name)`, which has another intent to retain: it is one for all of them")
  }

  /// At most two age attestations, however they are asked for (ISO/IEC 18013-5:2021, 7.2.5).
  private func checkAges(
    _ input: DocumentInput, _ request: DocumentRequest, at pointer: String, _ faults: inout Faults
  ) {
    let range = family.ageThresholds
    let ages = input.ageOver.enumerated().map { ("age_over/\($0.offset)", $0.element) }
    for (member, age) in ages + (input.minimumAge.map { [("minimum_age", $0)] } ?? []) where !range.contains(age) {
      faults.add("\(pointer)/\(member)", "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    let named = request.elements.flatMap { [$0.element] + $0.alternatives }
      .compactMap { Self.threshold(of: $0.identifier) }
    if Set(request.ageThresholds).union(named).count > Limits.ageRequests {
      faults.add(
        pointer + "/age_over", "ask for more than \(Limits.ageRequests) thresholds, `minimum_age` included",
        code: .apiTooManyAgeRequests)
    }
    let asksAge = request.elements.contains { $0.element.identifier == "age_in_years" }
    if asksAge, !family.allowsAgeWithThreshold, !request.ageThresholds.isEmpty || !named.isEmpty {
      faults.add(pointer + "/age_over", "cannot be asked for together with `age_in_years` in-app")
    }
  }

  /// The zero-knowledge proofs that may, or must, answer; nil if none may.
  private func proofs(
    _ wish: DocumentInput.Proofs, of document: DocumentRequest, at pointer: String, _ faults: inout Faults
  ) -> ProofRequest? {
    guard wish != .off else { return nil }
    guard family != .inApp else {
      faults.add(pointer, "cannot be asked for in-app: Apple Wallet makes no proofs", code: .zkNotProvable)
      return nil
    }
    let request: ProofRequest
    do throws(ProofRequestFault) {
      request = try ProofRequest(of: document, isRequired: wish == .required, circuits: proofs.circuits)
    } catch {
      faults.add(pointer, error.detail(circuits: proofs.circuits), code: error.code)
      return nil
    }
    guard proofs.revocation != .requireGood else {
      faults.add(pointer, "does not go with the revocation policy `require_good`", code: .zkNotProvable)
      return nil
    }
    return request
  }

  /// NN of `age_over_NN`.
  private static func threshold(of identifier: String) -> Int? {
    guard identifier.hasPrefix("age_over_") else { return nil }
    return Int(identifier.dropFirst("age_over_".count))
  }
}

extension ProofRequestFault {
  fileprivate var code: Code { if case .noCircuit = self { .zkCircuitsMissing } else { .zkNotProvable } }

  fileprivate func detail(circuits: [KnownCircuit]) -> String {
    switch self {
    case .elementCount(let count): "proves one to four elements, and \(count) are asked for"
    case .severalNamespaces: "proves elements of one namespace, and several are asked for"
    case .alternatives(let element): "proves no alternatives, as `\(element.identifier)` has them"
    case .notProvable(let element):
      "cannot prove `\(element.identifier)`: its value has parts or is long, or its name is"
    case .documentTypeTooLong: "proves no document type of more than 255 bytes"
    case .noCircuit(let count):
      circuits.isEmpty
        ? "needs circuits, and none are at hand (`mdoc circuits import`, `circuits` or `--circuits`)"
        : "needs a circuit for \(count) elements, and none is at hand (`mdoc circuits list`)"
    }
  }
}
