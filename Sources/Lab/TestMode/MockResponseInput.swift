import App
import Base
import Mdoc
import Mock
import Sessions

/// The body of `POST /v1/test/mock_responses`. Unknown members are refused.
///
/// `elements` has two shapes. An array of `{namespace, identifier}` names the elements that the person agrees to
/// disclose; all others are withheld. An object `{namespace: {identifier: value}}` changes elements of the mock
/// documents, or removes them by `null`. Its values have the form that `mdoc mock` reads, for example `{"full_date":
/// "2010-01-31"}` for dates.
struct MockResponseInput {
  let session: String
  /// The protocol, among the session's, that is answered; nil for the first.
  let protocolName: String?
  /// Where the wallet fetches its request, as a page's link or QR code says; nil for the session's own address.
  let requestURI: String?
  /// Whether the wallet takes its request encrypted only.
  let wantsEncryptedRequest: Bool
  let variant: MockVariant
  private var disclosed: [(namespace: String, identifier: String)]?
  private var changes: [JSON.Member] = []

  init(parsing json: JSON) throws(ServiceError) {
    guard let object = json.object else { throw .invalidMember("", "must be an object") }
    let known = MockResponseSchema.mockResponse.members.map(\.name)
    let unknown = object.filter { !known.contains($0.name) }
    guard unknown.isEmpty else { throw .unknownMembers(unknown) }
    guard let session = json["session"]?.string else { throw .invalidMember("/session", "must be a session's id") }
    self.session = session
    protocolName = json["protocol"]?.string
    if let member = json["protocol"], !member.isNull, member.string == nil {
      throw .invalidMember("/protocol", "must be the name of a protocol")
    }
    requestURI = json["request_uri"]?.string
    if let member = json["request_uri"], !member.isNull, member.string == nil {
      throw .invalidMember("/request_uri", "must be the address in a wallet's link")
    }
    guard let wants = (json["encrypted_request"] ?? false).bool else {
      throw .invalidMember("/encrypted_request", "must be true or false")
    }
    wantsEncryptedRequest = wants
    let name = json["variant"] ?? "good"
    guard let variant = name.string.flatMap(Self.variant) else {
      throw .invalidMember("/variant", VariantHint.text(for: name.string ?? ""))
    }
    self.variant = variant
    switch json["elements"] {
    case nil, .null?: break
    case .array(let list)?: disclosed = try Self.references(list)
    case .object(let members)?: changes = members
    default: throw .invalidMember("/elements", "must be an array of elements or an object of namespaces")
    }
  }

  /// Whether the person withholds something.
  var isRestricted: Bool { disclosed != nil }

  /// The request without what the person does not disclose.
  func restricted(_ request: MockRequest) -> MockRequest {
    guard let disclosed else { return request }
    var request = request
    for index in request.documents.indices {
      request.documents[index].elements.removeAll { element in !disclosed.contains { $0 == element } }
    }
    return request
  }

  /// The mock person's documents with the changed elements, each in the documents that have its namespace.
  func documents() throws -> [MockDocumentData] {
    var documents = MockPerson.allDocuments + [MockPerson.secondLicence]
    for namespace in changes {
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
    case .invalidData(let path, let reason): .invalidMember("/elements", "\(path): \(reason)")
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

  private static func references(_ list: [JSON]) throws(ServiceError) -> [(namespace: String, identifier: String)] {
    var references: [(namespace: String, identifier: String)] = []
    for (index, element) in list.enumerated() {
      guard element.object?.count == 2, let namespace = element["namespace"]?.string,
        let identifier = element["identifier"]?.string
      else { throw .invalidMember("/elements/\(index)", "must have exactly `namespace` and `identifier`") }
      references.append((namespace, identifier))
    }
    return references
  }
}

/// The schemas of `POST /v1/test/mock_responses` and of its opened form.
enum MockResponseSchema {
  static let all: [Schema.Member] = [
    .init("CreateMockResponse", mockResponse),
    .init(
      "OpenedMockResponse",
      .object([
        "answer": .reference("SubmitAnswer"),
        "device_responses": .list(of: .text).described("The bytes of each in base64url."),
      ])),
  ]

  static let mockResponse: Schema = .object(
    [
      "session": .text(like: SessionID.pattern),
      "protocol": .oneOf("PresentationProtocol", ProtocolFamily.allCases.flatMap(\.protocolNames)).orNull
        .described("Of the session's, the one that is answered; by default its first."),
      "request_uri": .text.orNull.described(
        "Where a page's link or QR code lets the wallet fetch its request; the link itself, where it holds the request."
      ),
      "encrypted_request": .flag(default: false).described(
        "Whether the wallet takes its request encrypted only (`wallet_metadata`): by `openid4vp`."),
      "variant": .oneOf(variants, default: "good").described("What `mdoc mock variants` lists.").titled("MockVariant"),
      "elements": .oneOf([
        .list(of: .reference("ElementReference")),
        .map(of: Schema(["type": "object"]).titled("MockElementValues")).titled("MockDocumentElements"),
      ])
      .described("An array: what the person discloses. An object by namespace: what the documents say instead.")
      .titled("MockElements").orNull,
    ], optional: ["protocol", "request_uri", "encrypted_request", "variant", "elements"])

  private static let variants = MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name)
}

/// The message for an unknown variant, with up to three similar names.
enum VariantHint {
  static func text(for name: String) -> String {
    let names = MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name)
    return "is no variant that `mdoc mock variants` lists" + Spelling.hint(for: name, among: names)
  }
}
