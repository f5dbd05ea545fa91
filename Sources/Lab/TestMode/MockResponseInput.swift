import App
import Base
import Mdoc
import Mock
import Sessions

/// The body of `POST /v1/test/mock_responses`.
struct MockResponseInput: Equatable {
  let session: String
  /// The protocol, among the session's, that is answered; nil for the first.
  let protocolName: String?
  /// Where the wallet fetches its request, as a page's link or QR code says; nil for the session's own address.
  let requestURI: String?
  /// Whether the wallet takes its request encrypted only.
  let wantsEncryptedRequest: Bool
  let variantName: String
  let elements: Elements
  let changes: [JSON.Member]

  /// The elements that the person agrees to disclose. The member may also be an object, which is then read as `changes`, as in
  /// releases before this form.
  struct Elements: Equatable {
    var disclosed: [ElementReference]?
    var changes: [JSON.Member] = []

    private static let list = ElementReference.shape.list(0...Limits.requestedElements)

    static let shape = Shape<Elements>(list.schema) { json, pointer, faults in
      if let members = json.object { return Elements(changes: members) }
      return list.read(json, pointer, &faults).map { Elements(disclosed: $0) }
    } write: {
      list.write($0.disclosed ?? [])
    }
  }

  static let shape = Shape.object(
    "CreateMockResponse", "The response that a mock wallet shall make.", MockResponseInput.init,
    Field("session", \.session, .text(1...255, like: SessionID.pattern), "The session that the mock wallet answers."),
    .optional(
      "protocol", \.protocolName, .text(), "The protocol to answer by, one of the session's. By default its first."),
    .optional(
      "request_uri", \.requestURI, .text(1...4096),
      """
      Where the wallet fetches its request, as a page's link or QR code says; or the link itself, if it holds the \
      request. By default the session's own.
      """),
    .optional(
      "encrypted_request", \.wantsEncryptedRequest, .flag, or: false,
      "Whether the wallet takes its request encrypted only (`wallet_metadata`): by `openid4vp`."),
    .optional(
      "variant", \.variantName, variants, or: "good",
      """
      The way in which the response is wrong; `mdoc mock variants` lists the names. A published list's name gives a right \
      response whose document refers to that list.
      """),
    .optional(
      "elements", \.elements, Elements.shape, or: Elements(),
      "The elements that the person agrees to disclose. By default all that are asked for."),
    .optional(
      "changes", \.changes, changes, or: [],
      """
      Changes to the mock documents: an object by namespace of objects by element. Null removes the element. \
      Dates and bytes are written as for `mdoc mock`, such as `{"full_date": "2010-01-31"}`.
      """))

  private static let variants: Shape<String> = {
    let names = MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name)
    return Shape(.oneOf("MockVariant", names).described("A way in which a response is right or wrong.")) {
      json, pointer, faults in
      if let name = json.string, variant(name) != nil { return name }
      faults.add(
        pointer, "is no variant that `mdoc mock variants` lists" + Spelling.hint(for: json.string ?? "", among: names))
      return nil
    } write: {
      .string($0)
    }
  }()

  private static let changes = Shape<[JSON.Member]>(.map(of: [:])) { json, pointer, faults in
    if let members = json.object { return members }
    faults.add(pointer, "must be an object by namespace")
    return nil
  } write: {
    .object($0)
  }

  /// Right unless the body says otherwise; its name was read as that of a variant.
  var variant: MockVariant { Self.variant(variantName) ?? .good }

  /// Whether the person withholds something.
  var isRestricted: Bool { elements.disclosed != nil }

  /// The request without what the person does not disclose.
  func restricted(_ request: MockRequest) -> MockRequest {
    guard let disclosed = elements.disclosed else { return request }
    var request = request
    for index in request.documents.indices {
      request.documents[index].elements.removeAll { element in
        !disclosed.contains(ElementReference(element.namespace, element.identifier))
      }
    }
    return request
  }

  /// The mock person's documents with the changed elements, each in the documents that have its namespace.
  func documents() throws -> [MockDocumentData] {
    var documents = MockPerson.allDocuments + [MockPerson.secondLicence]
    for namespace in changes + elements.changes {
      guard let elements = namespace.value.object else {
        throw MockError.invalidData(path: namespace.name, reason: "must be an object of elements")
      }
      // Read as the mock issuer reads document data, so that dates and bytes are understood.
      let form: JSON = ["doc_type": "changes", "namespaces": .object([.init(namespace.name, .object(elements))])]
      let read = try MockDocumentData(json: form.serialized())
      for index in documents.indices where documents[index].namespaces.contains(where: { $0.name == namespace.name }) {
        for element in elements {
          documents[index][namespace.name, element.name] =
            element.value.isNull ? nil : read[namespace.name, element.name]
        }
      }
    }
    return documents
  }

  /// The error for what the mock wallet cannot do. It points at the member that asked for it.
  func fault(_ error: MockError) -> ServiceError {
    switch error {
    case .invalidData(let path, let reason):
      .invalidMember(changes.isEmpty ? "/elements" : "/changes", "\(path): \(reason)")
    case .nothingToChange: .invalidMember("/variant", error.description)
    case .noRequestedDocument, .unreadableRequest, .cannotProve: .invalidMember("/session", error.description)
    case .curveCannotSign, .keyDerivationFailed: ServiceError(.apiInternal, "The mock wallet failed.")
    }
  }

  /// The variant of this name. It may also be the name of a published list: then the answer is right, and its document
  /// refers to that list.
  private static func variant(_ name: String) -> MockVariant? {
    MockVariant.named(name) ?? MockPublishedList.named(name)?.variant
  }
}

/// The reply of `POST /v1/test/opened_mock_responses`.
struct OpenedMockResponse: Sendable {
  let submitted: JSON
  let deviceResponses: [[UInt8]]

  static let shape = Shape<OpenedMockResponse>.open(
    "OpenedMockResponse", "A mock wallet's response, and what is encrypted in it.",
    [
      .always("answer", \.submitted, .any(SubmitBody.shape.schema), "The response, ready to submit."),
      .always(
        "device_responses", \.deviceResponses, Shape.base64URL.list,
        "The DeviceResponses that are encrypted in it, each in base64url."),
    ])
}
