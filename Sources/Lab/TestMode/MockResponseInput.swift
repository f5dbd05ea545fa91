import App
import Base
import Mock
import Sessions

/// The body of `POST /v1/test/mock_responses`, read strictly.
///
/// `elements` comes in two shapes: an array of `{namespace, identifier}` names what the person agrees to disclose, all
/// else is withheld; an object `{namespace: {identifier: value}}` changes what the mock documents say (`null`: they do
/// not say it), with values as `mdoc mock` reads them, `{"full_date": "2010-01-31"}` for dates.
struct MockResponseInput {
  let session: String
  /// Of the session's, the one that is answered; by default its first.
  let protocolName: String?
  let variant: MockVariant
  private var disclosed: [(namespace: String, identifier: String)]?
  private var changes: [JSON.Member] = []

  init(parsing json: JSON) throws(ServiceError) {
    guard let object = json.object else { throw Self.fault("", "must be an object") }
    let known = MockResponseSchema.mockResponse.members.map(\.name)
    let unknown = object.filter { !known.contains($0.name) }
    guard unknown.isEmpty else { throw .unknownMembers(unknown) }
    guard let session = json["session"]?.string else { throw Self.fault("/session", "must be a session's id") }
    self.session = session
    protocolName = json["protocol"]?.string
    if let member = json["protocol"], !member.isNull, member.string == nil {
      throw Self.fault("/protocol", "must be the name of a protocol")
    }
    let name = json["variant"] ?? "good"
    guard let variant = name.string.flatMap(Self.variant) else {
      throw Self.fault("/variant", VariantHint.text(for: name.string ?? ""))
    }
    self.variant = variant
    switch json["elements"] {
    case nil, .null?: break
    case .array(let list)?: disclosed = try Self.references(list)
    case .object(let members)?: changes = members
    default: throw Self.fault("/elements", "must be an array of elements or an object of namespaces")
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
    var documents = MockPerson.documents
    for namespace in changes {
      guard let elements = namespace.value.object else {
        throw MockError.invalidData(path: namespace.name, reason: "must be an object of elements")
      }
      // Read by the mock issuer's own reader of document data, which knows dates and bytes.
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

  /// What the mock wallet cannot do, as a fault of the member that asked for it.
  func fault(_ error: MockError) -> ServiceError {
    switch error {
    case .invalidData(let path, let reason): Self.fault("/elements", "\(path): \(reason)")
    case .nothingToChange, .unknownVariant: Self.fault("/variant", error.description)
    case .noRequestedDocument, .unreadableRequest, .cannotProve: Self.fault("/session", error.description)
    case .curveCannotSign, .keyDerivationFailed: ServiceError(.apiInternal, "The mock wallet failed.")
    }
  }

  /// A way of answering, or a right answer whose document refers to a list by this name.
  private static func variant(_ name: String) -> MockVariant? {
    MockVariant.named(name) ?? MockPublishedList.named(name)?.variant
  }

  private static func references(_ list: [JSON]) throws(ServiceError) -> [(namespace: String, identifier: String)] {
    var references: [(namespace: String, identifier: String)] = []
    for (index, element) in list.enumerated() {
      guard element.object?.count == 2, let namespace = element["namespace"]?.string,
        let identifier = element["identifier"]?.string
      else { throw fault("/elements/\(index)", "must have exactly `namespace` and `identifier`") }
      references.append((namespace, identifier))
    }
    return references
  }

  private static func fault(_ pointer: String, _ detail: String) -> ServiceError {
    ServiceError(.apiInvalidRequest, pointers: [.init(pointer: pointer, detail: detail)])
  }
}

/// What `POST /v1/test/mock_responses` takes.
enum MockResponseSchema {
  static let all: [Schema.Member] = [.init("CreateMockResponse", mockResponse)]

  static let mockResponse: Schema = .object(
    [
      "session": .text(like: SessionID.pattern),
      "protocol": .oneOf("PresentationProtocol", ProtocolFamily.allCases.flatMap(\.protocolNames)).orNull
        .described("Of the session's, the one that is answered; by default its first."),
      "variant": .oneOf(variants, default: "good").described("What `mdoc mock variants` lists.").titled("MockVariant"),
      "elements": .oneOf([
        .list(of: .reference("ElementReference")),
        .map(of: Schema(["type": "object"]).titled("MockElementValues")).titled("MockDocumentElements"),
      ])
      .described("An array: what the person discloses. An object by namespace: what the documents say instead.")
      .titled("MockElements").orNull,
    ], optional: ["protocol", "variant", "elements"])

  private static let variants = MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name)
}

/// What to tell somebody who asked for a variant that does not exist.
enum VariantHint {
  static func text(for name: String) -> String {
    let near =
      (MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name))
      .map { (name: $0, distance: distance(name, $0)) }
      .filter { $0.distance <= max(3, $0.name.utf8.count / 2) }.sorted { $0.distance < $1.distance }.prefix(3)
      .map { "`\($0.name)`" }
    let hint = near.isEmpty ? "" : "; did you mean \(near.joined(separator: ", "))?"
    return "is no variant that `mdoc mock variants` lists" + hint
  }

  /// Levenshtein's, over at most the first 64 bytes.
  private static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left.utf8.prefix(64))
    let right = Array(right.utf8.prefix(64))
    var row = Array(0...right.count)
    for (line, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for column in right.indices {
        let replaced = diagonal + (character == right[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[right.count]
  }
}
