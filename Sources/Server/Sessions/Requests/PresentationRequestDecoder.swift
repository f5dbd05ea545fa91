import Base
import Longfellow
import Mdoc
import Presentation

/// Reads `documents`, `all_documents` and `purpose_hint` of the API into a `PresentationRequest`: the creation of a
/// session and `mdoc verify --request` share it. Faults carry JSON pointers.
package struct PresentationRequestDecoder: Sendable {
  static let members: Set<String> = ["documents", "all_documents", "purpose_hint"]
  private static let elementMembers: Set = [
    "namespace", "identifier", "intent_to_retain", "retain_days", "required", "alternatives",
  ]
  private static let inAppElementMembers = elementMembers.union(["apple_element"])
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

  /// An object of exactly these members.
  package func decode(_ json: JSON) throws(ServiceError) -> PresentationRequest {
    var faults = InputFaults()
    let request = ObjectInput(json, at: "", known: Self.members, &faults).map { decode($0, &faults) }
    try faults.throwIfAny()
    guard let request else { throw ServiceError(.apiInvalidRequest) }
    return request
  }

  func decode(_ input: ObjectInput, _ faults: inout InputFaults) -> PresentationRequest {
    let all = input.bool("all_documents", default: false, &faults)
    let documents = input.array("documents", count: 1...Limits.requestedDocuments, required: true, &faults)
    var requests: [DocumentRequest] = []
    for (index, json) in documents.enumerated() {
      let pointer = "\(input.pointer(to: "documents"))/\(index)"
      guard let document = document(json, at: pointer, &faults) else { continue }
      let isRepeated = requests.contains { $0.docType.hasSameBytes(as: document.docType) }
      if isRepeated, !canRepeat {
        let way = protocols.first { !ProtocolFamily.namesQueries($0) }.map { "by `\($0)`" } ?? "without OpenID4VP"
        faults.add(pointer + "/doc_type", "is asked for twice; each type can be asked for once \(way)")
      }
      requests.append(document)
    }
    if all { checkRepeated(requests, at: input.pointer(to: "documents"), &faults) }
    let elements = requests.flatMap(\.elements)
    if elements.reduce(0, { $0 + 1 + $1.alternatives.count }) > Limits.requestedElements {
      faults.add(input.pointer(to: "documents"), "ask for more than \(Limits.requestedElements) elements")
    }
    var request = PresentationRequest(documents: requests, requiresAllDocuments: all)
    if let name = input.string("purpose_hint", required: false, &faults) {
      request.purposeHint = PurposeHint.allCases.first { "\($0)" == name }
      if family == .inApp {
        faults.add(input.pointer(to: "purpose_hint"), "does not go with `apple-in-app`")
      } else if request.purposeHint == nil {
        faults.add(input.pointer(to: "purpose_hint"), "must be `identity`, `driving` or `age`")
      }
    }
    return request
  }

  /// Whether every protocol can ask for a type twice.
  private var canRepeat: Bool { !protocols.isEmpty && protocols.allSatisfy(ProtocolFamily.namesQueries) }

  /// Two documents of one type are told apart by their numbers, which proofs hide.
  private func checkRepeated(_ requests: [DocumentRequest], at pointer: String, _ faults: inout InputFaults) {
    for (index, request) in requests.enumerated()
    where requests.count(where: { $0.docType.hasSameBytes(as: request.docType) }) > 1 {
      if request.proofs != nil {
        faults.add(
          "\(pointer)/\(index)/zk", "cannot be asked for where `all_documents` has two documents of one type",
          code: .zkNotProvable)
      }
      let number = ElementReference.documentNumber(ofDocType: request.docType)
      if !request.elements.contains(where: { $0.element == number && $0.isRequired && $0.alternatives.isEmpty }) {
        faults.add(
          "\(pointer)/\(index)/elements",
          "must have `document_number` of `\(number.namespace)`, required and without alternatives: two documents of one "
            + "type are told apart by it")
      }
    }
  }

  private func document(_ json: JSON, at pointer: String, _ faults: inout InputFaults) -> DocumentRequest? {
    guard
      let input = ObjectInput(
        json, at: pointer,
        known: ["doc_type", "elements", "age_over", "minimum_age", "accept_expired", "retain_days", "zk"],
        &faults)
    else { return nil }
    let docType = input.string("doc_type", required: true, &faults)
    let days = retainDays(input, &faults)
    var elements: [ElementRequest] = []
    for (index, json) in input.array("elements", count: 0...Limits.requestedElements, required: false, &faults)
      .enumerated()
    {
      let place = "\(pointer)/elements/\(index)"
      for element in self.elements(json, of: docType, keptFor: days, at: place, &faults) {
        checkIntent(element, beside: elements, of: docType, at: place, &faults)
        if elements.contains(where: { $0.element == element.element }) {
          // Several of Apple's elements may stand for one of the document's.
          guard json["apple_element"] == nil else { continue }
          faults.add(place, "is asked for twice")
        }
        elements.append(element)
      }
    }
    if days != nil, !elements.contains(where: \.intentToRetain) {
      faults.add(input.pointer(to: "retain_days"), "goes with elements of `intent_to_retain` true, and there is none")
    }
    var request = DocumentRequest(
      docType: docType ?? "", elements: elements, ageOver: thresholds(input, &faults),
      minimumAge: input.integer(
        "minimum_age", in: Int64(family.ageThresholds.lowerBound)...Int64(family.ageThresholds.upperBound), &faults
      ).map { Int($0) })
    request.acceptsExpired = input.bool("accept_expired", default: false, &faults)
    checkAges(request, at: pointer, &faults)
    if elements.isEmpty, request.ageThresholds.isEmpty, faults.isEmpty { faults.add(pointer, "asks for nothing") }
    if faults.isEmpty { request.proofs = proofs(of: request, input, &faults) }
    return docType == nil ? nil : request
  }

  /// One element by its namespace and identifier; or, in-app, what one of Apple's identity elements stands for:
  /// `{"apple_element": "givenName"}`.
  private func elements(
    _ json: JSON, of docType: String?, keptFor days: Int?, at pointer: String, _ faults: inout InputFaults
  ) -> [ElementRequest] {
    let known = family == .inApp ? Self.inAppElementMembers : Self.elementMembers
    guard let input = ObjectInput(json, at: pointer, known: known, &faults) else { return [] }
    let retention = self.retention(input, keptFor: days, &faults)
    let isRequired = input.bool("required", default: true, &faults)
    let alternatives = alternatives(input, &faults)
    if family == .inApp, let name = input.string("apple_element", required: false, &faults) {
      for other in ["namespace", "identifier"] where input.value(other) != nil {
        faults.add(input.pointer(to: other), "does not go together with `apple_element`")
      }
      let type = docType.flatMap(AppleDocumentType.init(docType:))
      guard
        let requests = type?.elementRequests(for: name, retention: retention, isRequired: isRequired)
      else {
        let known = type?.elementNames.joined(separator: ", ") ?? "none"
        faults.add(input.pointer(to: "apple_element"), "is none of this document type's: \(known)")
        return []
      }
      return requests
    }
    guard let element = reference(input, &faults) else { return [] }
    for (index, other) in alternatives.enumerated() where ([element] + alternatives[..<index]).contains(other) {
      faults.add("\(input.pointer(to: "alternatives"))/\(index)", "is asked for twice")
    }
    return [
      ElementRequest(element, retention: retention, isRequired: isRequired, alternatives: alternatives)
    ]
  }

  private func reference(_ input: ObjectInput, _ faults: inout InputFaults) -> ElementReference? {
    let namespace = input.string("namespace", required: true, &faults)
    let identifier = input.string("identifier", required: true, &faults)
    guard let namespace, let identifier else { return nil }
    return ElementReference(namespace, identifier)
  }

  /// The elements that may come in its place. Apple and Annex B cannot ask for them.
  private func alternatives(_ input: ObjectInput, _ faults: inout InputFaults) -> [ElementReference] {
    let pointer = input.pointer(to: "alternatives")
    let unable = family == .inApp ? family.protocolNames : protocols.filter { $0 == AnnexBProtocol().name }
    if let name = unable.first, input.value("alternatives") != nil {
      faults.add(pointer, "cannot be asked for by `\(name)`")
      return []
    }
    var references: [ElementReference] = []
    for (index, json) in input.array("alternatives", count: 1...Limits.elementAlternatives, required: false, &faults)
      .enumerated()
    {
      let other = ObjectInput(json, at: "\(pointer)/\(index)", known: ["namespace", "identifier"], &faults)
      if let reference = other.flatMap({ reference($0, &faults) }) { references.append(reference) }
    }
    return references
  }

  /// The element's own days, else its document's, else the policy's.
  private func retention(
    _ input: ObjectInput, keptFor days: Int?, _ faults: inout InputFaults
  ) -> Retention {
    let own = retainDays(input, &faults)
    guard input.bool("intent_to_retain", default: false, &faults) else {
      if own != nil { faults.add(input.pointer(to: "retain_days"), "goes with `intent_to_retain` true only") }
      return .none
    }
    return (own ?? days ?? retention.days).map { .days($0) } ?? .unspecified
  }

  private func retainDays(_ input: ObjectInput, _ faults: inout InputFaults) -> Int? {
    input.integer("retain_days", in: Limits.retainDays.lowerBound...Int64(retention.longest), &faults).map { Int($0) }
  }

  /// One of Apple's elements has one intent to store, whatever it stands for.
  private func checkIntent(
    _ element: ElementRequest, beside others: [ElementRequest], of docType: String?, at pointer: String,
    _ faults: inout InputFaults
  ) {
    guard family == .inApp, let type = docType.flatMap(AppleDocumentType.init(docType:)),
      let name = type.appleElement(for: element.element),
      others.contains(where: { type.appleElement(for: $0.element) == name && $0.retention != element.retention })
    else { return }
    faults.add(
      pointer, "is asked for within Apple's `\(name)`, which has another intent to retain: it is one for all of them")
  }

  private func thresholds(_ input: ObjectInput, _ faults: inout InputFaults) -> [Int] {
    guard let value = input.value("age_over") else { return [] }
    let pointer = input.pointer(to: "age_over")
    guard let elements = value.array else {
      faults.add(pointer, "must be an array of whole numbers")
      return []
    }
    let range = family.ageThresholds
    var thresholds: [Int] = []
    for (index, element) in elements.enumerated() {
      guard let number = element.integer, range.contains(Int(clamping: number)) else {
        faults.add(
          "\(pointer)/\(index)", "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        continue
      }
      thresholds.append(Int(number))
    }
    return Array(Set(thresholds)).sorted()
  }

  /// At most two age attestations, however they are asked for (ISO/IEC 18013-5:2021, 7.2.5).
  private func checkAges(_ request: DocumentRequest, at pointer: String, _ faults: inout InputFaults) {
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

  /// `zk`: whether a zero-knowledge proof may, or must, answer; nil for `off` and where nothing is said.
  private func proofs(
    of document: DocumentRequest, _ input: ObjectInput, _ faults: inout InputFaults
  ) -> ProofRequest? {
    guard let value = input.value("zk") else { return nil }
    let pointer = input.pointer(to: "zk")
    guard let wish = value.string.flatMap(ProofWish.init) else {
      faults.add(pointer, "must be `off`, `allowed` or `required`")
      return nil
    }
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

  private enum ProofWish: String { case off, allowed, required }

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
