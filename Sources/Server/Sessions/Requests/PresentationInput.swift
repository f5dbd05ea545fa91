import Base
import Longfellow
import Mdoc
import Presentation

/// The JSON of requested documents, for creating a session and for `mdoc verify --request`.
struct PresentationInput: Equatable, Sendable {
  var documents: [DocumentInput]
  var requiresAllDocuments: Bool
  var purposeHint: PurposeHint?

  static let shape = Shape.object(
    "PresentationRequest", "The requested documents.", PresentationInput.init, documents { $0 },
    allDocuments { $0 }, purposeHint { $0 })

  typealias Getter<Root> = @Sendable (Root) -> PresentationInput

  /// An empty request.
  static let none = PresentationInput(documents: [], requiresAllDocuments: false)

  static func documents<Root>(
    _ of: @escaping Getter<Root>, isOptional: Bool = false
  ) -> Field<Root, [DocumentInput]> {
    let form = DocumentInput.shape.list(1...Limits.requestedDocuments)
    let summary = """
      The documents that you ask for. Any one of them is enough, unless `all_documents` is true. A type can occur \
      twice only if every protocol is OpenID4VP and none is `openid4vp-iso-18013-7-annex-b`. All documents together \
      ask for at most \(Limits.requestedElements) elements, alternatives included.
      """
    guard isOptional else { return Field("documents", { of($0).documents }, form, summary) }
    return .optional(
      "documents", { of($0).documents }, form, or: [], summary + " Required, unless `template` names a request.")
  }

  static func allDocuments<Root>(_ of: @escaping Getter<Root>) -> Field<Root, Bool> {
    .optional(
      "all_documents", { of($0).requiresAllDocuments }, .flag, or: false,
      """
      Whether all documents must be returned. Must be false with `apple-in-app`, which returns one document. If true, \
      two documents of one type must each ask for `document_number`, required and without alternatives or `zk`.
      """)
  }

  static func purposeHint<Root>(_ of: @escaping Getter<Root>) -> Field<Root, PurposeHint?> {
    .optional(
      "purpose_hint", { of($0).purposeHint },
      .choice("PurposeHint", "The purpose of the request.", of: PurposeHint.allCases.map { ("\($0)", $0) }),
      "The purpose, for wallets. Only `org-iso-mdoc` and `iso-18013-5-proximity` pass it on. Not with `apple-in-app`.")
  }
}

struct DocumentInput: Equatable, Sendable {
  enum Proofs: String, CaseIterable, Sendable { case off, allowed, required }

  var docType: String
  var elements: [ElementInput]
  var ageOver: [Int]
  var minimumAge: Int?
  var acceptsExpired: Bool
  var retainDays: Int?
  var proofs: Proofs

  private static let age = Shape.whole(ProtocolFamily.inApp.ageThresholds)

  static let shape = Shape.object(
    "DocumentRequest", "A requested document with its requested elements.", DocumentInput.init,
    Field(
      "doc_type", \.docType, .text(),
      "The document type (ISO/IEC 18013-5), such as `org.iso.18013.5.1.mDL`. `mdoc catalogue` lists the known ones."),
    .optional(
      "elements", \.elements, ElementInput.shape.list(0...Limits.requestedElements), or: [],
      "The requested elements, each once. At least one of `elements`, `age_over` and `minimum_age` must request something."
    ),
    .optional(
      "age_over", \.ageOver, age.list(0...Limits.requestedElements), or: [],
      """
      Ages in years; for each, the result says whether the person has reached it. At most two different ages, counted \
      together with `minimum_age` and requested `age_over_NN` elements. From 1 to 99. With `apple-in-app` from 1 to \
      125, and not together with `age_in_years`.
      """),
    .optional(
      "minimum_age", \.minimumAge, age,
      """
      The age in years that the person must have reached; otherwise the response is rejected. The bounds are those of \
      `age_over`.
      """),
    .optional(
      "accept_expired", \.acceptsExpired, .flag, or: false,
      "Whether to accept, with a warning, a document whose returned `expiry_date` has passed."),
    .optional(
      "retain_days", \.retainDays, ElementInput.days,
      """
      Days for which you keep elements with `intent_to_retain` true and without their own `retain_days`. At least one \
      element must have `intent_to_retain` true. The relying party's configuration may have a lower bound.
      """),
    .optional(
      "zk", \.proofs, .choice("ZeroKnowledge", "Whether a zero-knowledge proof replaces a document."), or: .off,
      """
      Whether a zero-knowledge proof may, or must, replace the document. It proves one to four elements of one \
      namespace, without alternatives, and hides all others. Not with `apple-in-app` or \
      `openid4vp-iso-18013-7-annex-b`, nor under the revocation policy `require_good`.
      """))
}

/// A requested element, identified by its namespace and identifier or, in-app, by Apple's name.
struct ElementInput: Equatable, Sendable {
  var namespace: String?
  var identifier: String?
  var appleElement: String?
  var intentToRetain: Bool
  var retainDays: Int?
  var isRequired: Bool
  var alternatives: [ElementReference]

  fileprivate static let days = Shape.whole(Int(Limits.retainDays.lowerBound)...Int(Limits.retainDays.upperBound))

  static let shape = Shape.object(
    "ElementRequest", "A requested element.", ElementInput.init,
    .optional(
      "namespace", \.namespace, .text(),
      "The element's namespace, such as `org.iso.18013.5.1`. Required without `apple_element`."),
    .optional(
      "identifier", \.identifier, .text(),
      "The element's name in its namespace, such as `given_name`. Required without `apple_element`."),
    .optional(
      "apple_element", \.appleElement, .text(),
      """
      In place of `namespace` and `identifier`, with `apple-in-app` only: Apple's name, such as `givenName`. `mdoc \
      catalogue` lists the names of each document type.
      """),
    .optional(
      "intent_to_retain", \.intentToRetain, .flag, or: false,
      """
      Whether you will keep the value. Wallets tell the person, and no other element is ever retained. With \
      `apple-in-app`, all parts of one of Apple's elements must have the same intent.
      """),
    .optional(
      "retain_days", \.retainDays, days,
      """
      Days after which a kept value is erased. Only with `intent_to_retain` true. The relying party's configuration \
      may have a lower bound.
      """),
    .optional("required", \.isRequired, .flag, or: true, "Whether a response without the element is rejected."),
    .optional(
      "alternatives", \.alternatives, ElementReference.shape.list(1...Limits.elementAlternatives), or: [],
      """
      Other elements that satisfy the request instead, in order of preference, each once. They are kept as long as \
      this element. Not with `apple-in-app` or `openid4vp-iso-18013-7-annex-b`.
      """))
}

extension ElementReference {
  package static let shape = Shape.object(
    "ElementName", "An element's full name.", ElementReference.init,
    Field("namespace", \.namespace, .text(), "The element's namespace."),
    Field("identifier", \.identifier, .text(), "The element's name in its namespace."))
}

/// A named request in a relying party's configuration.
package struct RequestTemplate: Equatable, Sendable {
  let input: PresentationInput

  package static let shape = PresentationInput.shape.map {
    RequestTemplate(input: $0)
  } back: {
    $0.input
  }

  /// Asks whether the holder of a driving licence has reached an age.
  package static func age(_ years: Int) -> RequestTemplate {
    RequestTemplate(
      input: PresentationInput(
        documents: [
          DocumentInput(
            docType: DocType.mDL, elements: [], ageOver: [years], minimumAge: nil, acceptsExpired: false,
            retainDays: nil, proofs: .off)
        ], requiresAllDocuments: false))
  }

  /// Records faults if the request is invalid both over the web and in an iPhone app.
  package func check(under policies: RelyingParty.Policies, at pointer: String, _ faults: inout Faults) {
    func check(_ family: ProtocolFamily, _ faults: inout Faults) {
      let decoder = PresentationRequestDecoder(
        for: family, retention: policies.retention, circuits: KnownCircuit.all, revocation: policies.revocation)
      _ = decoder.request(input, at: pointer, &faults)
    }
    var found = Faults()
    check(.inApp, &found)
    if !found.isEmpty { check(.web, &faults) }
  }
}

/// Makes a `PresentationRequest`, and checks the rules that no schema states.
package struct PresentationRequestDecoder: Sendable {
  private let family: ProtocolFamily
  private let protocols: [String]
  private let retention: RetentionPolicy
  /// The circuits for proofs.
  private let circuits: [KnownCircuit]
  private let revocation: RevocationPolicy

  /// The family decides the allowed age thresholds: 1–125 in-app, 1–99 elsewhere. In-app, `age_in_years` excludes them.
  /// - Parameter protocols: the offered protocols of the family. Empty for a DeviceResponse without a protocol.
  package init(
    for family: ProtocolFamily, protocols: [String] = [], retention: RetentionPolicy = RetentionPolicy(),
    circuits: [KnownCircuit] = [], revocation: RevocationPolicy = .off
  ) {
    self.family = family
    self.protocols = protocols
    self.retention = retention
    self.circuits = circuits
    self.revocation = revocation
  }

  package func decode(_ json: JSON) throws(ServiceError) -> PresentationRequest {
    var faults = Faults()
    guard let input = PresentationInput.shape.read(json, "", &faults) else { throw faults.refusal }
    let request = request(input, &faults)
    guard faults.isEmpty else { throw faults.refusal }
    return request
  }

  /// Reads a request in the API's form, or a DCQL query. The query may be the `dcql_query` of an OpenID4VP request.
  package func decode(requestOrQuery json: JSON) throws(ServiceError) -> PresentationRequest {
    guard json["documents"] == nil, let query = json["dcql_query"] ?? (json["credentials"] == nil ? nil : json) else {
      return try decode(json)
    }
    var faults = Faults()
    let input = DCQLQuery.shape.read(query, "", &faults)?.input(at: "", &faults)
    guard let input, faults.isEmpty else { throw faults.refusal }
    // A query identifies each document, so it may request two documents of one type.
    let decoder = PresentationRequestDecoder(
      for: family, protocols: DCQLQuery.protocols, retention: retention, circuits: circuits, revocation: revocation)
    let request = decoder.request(input, &faults)
    guard faults.isEmpty else { throw faults.refusal }
    return request
  }

  /// - Parameter place: the pointer to the object that has `documents`.
  func request(_ input: PresentationInput, at place: String = "", _ faults: inout Faults) -> PresentationRequest {
    var requests: [DocumentRequest] = []
    for (index, document) in input.documents.enumerated() {
      let pointer = "\(place)/documents/\(index)"
      let isRepeated = requests.contains { $0.docType.hasSameBytes(as: document.docType) }
      if isRepeated, !canRepeat {
        let way = protocols.first { !ProtocolFamily.namesQueries($0) }.map { "by `\($0)`" } ?? "without OpenID4VP"
        faults.add(pointer + "/doc_type", "is a duplicate; each type can be requested once \(way)")
      }
      requests.append(self.document(document, at: pointer, &faults))
    }
    if input.requiresAllDocuments { checkRepeated(requests, at: place, &faults) }
    let elements = requests.flatMap(\.elements)
    if elements.reduce(0, { $0 + 1 + $1.alternatives.count }) > Limits.requestedElements {
      faults.add(place + "/documents", "request more than \(Limits.requestedElements) elements")
    }
    if input.purposeHint != nil, family == .inApp {
      faults.add(place + "/purpose_hint", "is not allowed with `apple-in-app`")
    }
    var request = PresentationRequest(documents: requests, requiresAllDocuments: input.requiresAllDocuments)
    request.purposeHint = input.purposeHint
    return request
  }

  /// True if every protocol can request a type twice.
  private var canRepeat: Bool { !protocols.isEmpty && protocols.allSatisfy(ProtocolFamily.namesQueries) }

  /// Two documents of one type are distinguished by their numbers, which proofs hide.
  private func checkRepeated(_ requests: [DocumentRequest], at place: String, _ faults: inout Faults) {
    for (index, request) in requests.enumerated()
    where requests.count(where: { $0.docType.hasSameBytes(as: request.docType) }) > 1 {
      if request.proofs != nil {
        faults.add(
          "\(place)/documents/\(index)/zk", "cannot be requested if `all_documents` has two documents of one type",
          code: .zkNotProvable)
      }
      let number = ElementReference.documentNumber(ofDocType: request.docType)
      if !request.elements.contains(where: { $0.element == number && $0.isRequired && $0.alternatives.isEmpty }) {
        faults.add(
          "\(place)/documents/\(index)/elements",
          "must have `document_number` of `\(number.namespace)`, required and without alternatives: documents of one "
            + "type are distinguished by it")
      }
    }
  }

  private func document(_ input: DocumentInput, at pointer: String, _ faults: inout Faults) -> DocumentRequest {
    checkDays(input.retainDays, at: pointer, &faults)
    var elements: [ElementRequest] = []
    for (index, wanted) in input.elements.enumerated() {
      let member = "\(pointer)/elements/\(index)"
      for element in self.elements(wanted, of: input, at: member, &faults) {
        checkIntent(element, beside: elements, of: input.docType, at: member, &faults)
        if elements.contains(where: { $0.element == element.element }) {
          // Several of Apple's elements may map to the same element of the document.
          guard wanted.appleElement == nil else { continue }
          faults.add(member, "is a duplicate")
        }
        elements.append(element)
      }
    }
    if input.retainDays != nil, !elements.contains(where: \.intentToRetain) {
      faults.add(pointer + "/retain_days", "needs an element whose `intent_to_retain` is true")
    }
    var request = DocumentRequest(
      docType: input.docType, elements: elements, ageOver: Set(input.ageOver).sorted(), minimumAge: input.minimumAge)
    request.acceptsExpired = input.acceptsExpired
    checkAges(input, request, at: pointer, &faults)
    if elements.isEmpty, request.ageThresholds.isEmpty, faults.isEmpty { faults.add(pointer, "asks for nothing") }
    if faults.isEmpty { request.proofs = proofs(input.proofs, of: request, at: pointer + "/zk", &faults) }
    return request
  }

  /// Reads one element by its namespace and identifier. In-app, one of Apple's names may map to several elements.
  private func elements(
    _ input: ElementInput, of document: DocumentInput, at pointer: String, _ faults: inout Faults
  ) -> [ElementRequest] {
    let retention = self.retention(input, keptFor: document.retainDays, at: pointer, &faults)
    // Apple's protocol and Annex B do not support alternatives.
    let unable = family == .inApp ? family.protocolNames : protocols.filter { $0 == AnnexBProtocol().name }
    if let name = unable.first, !input.alternatives.isEmpty {
      faults.add(pointer + "/alternatives", "cannot be requested by `\(name)`")
    }
    if let name = input.appleElement {
      for (member, value) in [("namespace", input.namespace), ("identifier", input.identifier)] where value != nil {
        faults.add("\(pointer)/\(member)", "excludes `apple_element`: send one of the two")
      }
      let type = family == .inApp ? AppleDocumentType(docType: document.docType) : nil
      if let found = type?.elementRequests(for: name, retention: retention, isRequired: input.isRequired) {
        return found
      }
      let known = type?.elementNames ?? []
      faults.add(
        pointer + "/apple_element",
        family == .inApp
          ? "must be one of this document type's Apple elements: "
            + (known.isEmpty ? "none" : known.joined(separator: ", ")) + Spelling.hint(for: name, among: known)
          : "is allowed only with `apple-in-app`")
      return []
    }
    for (member, value) in [("namespace", input.namespace), ("identifier", input.identifier)] where value == nil {
      faults.add("\(pointer)/\(member)", "is required")
    }
    guard let namespace = input.namespace, let identifier = input.identifier else { return [] }
    let element = ElementReference(namespace, identifier)
    for (index, other) in input.alternatives.enumerated()
    where ([element] + input.alternatives[..<index]).contains(other) {
      faults.add("\(pointer)/alternatives/\(index)", "is a duplicate")
    }
    return [
      ElementRequest(element, retention: retention, isRequired: input.isRequired, alternatives: input.alternatives)
    ]
  }

  /// The element's own retention days, otherwise its document's, otherwise the policy's.
  private func retention(
    _ input: ElementInput, keptFor days: Int?, at pointer: String, _ faults: inout Faults
  ) -> Retention {
    checkDays(input.retainDays, at: pointer, &faults)
    guard input.intentToRetain else {
      if input.retainDays != nil {
        faults.add(pointer + "/retain_days", "is allowed only with `intent_to_retain` true")
      }
      return .none
    }
    return (input.retainDays ?? days ?? retention.days).map { .days($0) } ?? .unspecified
  }

  /// The configuration's maximum may be lower than the schema's.
  private func checkDays(_ days: Int?, at pointer: String, _ faults: inout Faults) {
    guard let days, days > retention.longest else { return }
    faults.add(
      pointer + "/retain_days", "must be a whole number from \(Limits.retainDays.lowerBound) to \(retention.longest)")
  }

  /// All parts of one of Apple's elements have the same intent to store.
  private func checkIntent(
    _ element: ElementRequest, beside others: [ElementRequest], of docType: String, at pointer: String,
    _ faults: inout Faults
  ) {
    guard family == .inApp, let type = AppleDocumentType(docType: docType),
      let name = type.appleElement(for: element.element),
      others.contains(where: { type.appleElement(for: $0.element) == name && $0.retention != element.retention })
    else { return }
    faults.add(
      pointer,
      "must have the same `intent_to_retain` and `retain_days` as the other elements of Apple's `\(name)`")
  }

  /// At most two age attestations, in all forms together (ISO/IEC 18013-5:2021, 7.2.5).
  private func checkAges(_ input: DocumentInput, _ request: DocumentRequest, at pointer: String, _ faults: inout Faults)
  {
    let range = family.ageThresholds
    let ages = input.ageOver.enumerated().map { ("age_over/\($0.offset)", $0.element) }
    for (member, age) in ages + (input.minimumAge.map { [("minimum_age", $0)] } ?? []) where !range.contains(age) {
      faults.add("\(pointer)/\(member)", "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    let named = request.elements.flatMap { [$0.element] + $0.alternatives }
      .compactMap { Self.threshold(of: $0.identifier) }
    if Set(request.ageThresholds).union(named).count > Limits.ageRequests {
      faults.add(
        pointer + "/age_over", "request more than \(Limits.ageRequests) thresholds, including `minimum_age`",
        code: .apiTooManyAgeRequests)
    }
    let asksAge = request.elements.contains { $0.element.identifier == "age_in_years" }
    if asksAge, family == .inApp, !request.ageThresholds.isEmpty || !named.isEmpty {
      faults.add(pointer + "/age_over", "cannot be requested together with `age_in_years` in-app")
    }
  }

  /// The zero-knowledge proofs that may or must replace the document; nil if none may.
  private func proofs(
    _ wish: DocumentInput.Proofs, of document: DocumentRequest, at pointer: String, _ faults: inout Faults
  ) -> ProofRequest? {
    guard wish != .off else { return nil }
    guard family != .inApp else {
      faults.add(pointer, "cannot be requested in-app, since Apple Wallet makes no proofs", code: .zkNotProvable)
      return nil
    }
    let request: ProofRequest
    do throws(ProofRequestError) {
      request = try ProofRequest(of: document, isRequired: wish == .required, circuits: circuits)
    } catch {
      faults.add(pointer, error.detail(circuits: circuits), code: error.code)
      return nil
    }
    guard revocation != .requireGood else {
      faults.add(pointer, "is not allowed with the revocation policy `require_good`", code: .zkNotProvable)
      return nil
    }
    return request
  }

  private static func threshold(of identifier: String) -> Int? {
    guard identifier.hasPrefix("age_over_") else { return nil }
    return Int(identifier.dropFirst("age_over_".count))
  }
}

extension ProofRequestError {
  fileprivate var code: Code { if case .noCircuit = self { .zkCircuitsMissing } else { .zkNotProvable } }

  fileprivate func detail(circuits: [KnownCircuit]) -> String {
    switch self {
    case .elementCount(let count): "supports one to four elements, not \(count)"
    case .severalNamespaces: "supports elements of one namespace only"
    case .alternatives(let element): "cannot prove alternatives: remove those of `\(element.identifier)`"
    case .notProvable(let element):
      "cannot prove `\(element.identifier)`: its value is structured or too long, or its name is too long"
    case .documentTypeTooLong: "supports document types of at most 255 bytes"
    case .noCircuit(let count):
      circuits.isEmpty
        ? "needs circuits, and none are configured (`mdoc circuits import`, `circuits` or `--circuits`)"
        : "needs a circuit for \(count) elements, and none is configured (`mdoc circuits list`)"
    }
  }
}
