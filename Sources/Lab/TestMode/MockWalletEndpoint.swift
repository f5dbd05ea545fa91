import App
import Base
import CBOR
import Mdoc
import Mock
import Presentation
import Sessions

/// The mock wallet behind `POST /v1/test/mock_responses`. It acts as test mode's phone and, in proximity, also as the
/// reader.
struct MockWalletEndpoint: Sendable {
  let authority: MockAuthority
  /// The prover; nil for a wallet that makes no zero-knowledge proofs.
  var prover: MockProver?

  /// An `Idempotency-Key` is ignored: the route changes no state, and gives the same response within a second.
  var routes: [Route] {
    [
      route(
        "mock_responses", name: "createMockResponse", reply: "SubmitVerificationSession",
        summary: "Make a mock wallet's response",
        description: "The response is right, or has the deviation of `variant`. Submit it unchanged."
      ) { $0.submitted },
      // No real wallet shows the plaintext of its response.
      route(
        "opened_mock_responses", name: "createOpenedMockResponse", reply: "OpenedMockResponse",
        summary: "Make a mock wallet's response and open it",
        description: "The response, and its decrypted DeviceResponses."
      ) { OpenedMockResponse.shape.write($0) },
    ]
  }

  private func route(
    _ path: String, name: String, reply schema: String, summary: String, description: String,
    body: @escaping @Sendable (OpenedMockResponse) -> JSON
  ) -> Route {
    Route(
      .post, "/v1/test/\(path)", name, summary, description, access: .apiKey([.sessionsWrite]),
      body: .reading(MockResponseInput.shape, [Self.example]), success: .json(schema), problems: Self.problems
    ) { call throws(ServiceError) in
      let made = try await respond(call, MockResponseInput.shape.value(of: call.body))
      return Reply(json: body(made), session: made.session)
    }
  }

  private static let example = RequestExample(
    "good", "A right response.", ["session": "vs_AAAAAAAAAAAAAAAAAAAAAA", "variant": "good"])

  static let problems: [Code] = [
    .sessionNotFound, .sessionProtocolMismatch, .sessionAlreadyUsed, .sessionExpired, .sessionCanceled,
    .sessionRedacted, .readerCertificateExpired, .apiNotFound,
  ]

  func respond(_ call: RouteCall, _ input: MockResponseInput) async throws(ServiceError) -> OpenedMockResponse {
    let pending = try await call.service.pendingRequest(input.session, by: input.protocolName, as: call.authenticated())
    do {
      let key = input.wantsEncryptedRequest ? try MockRequestKey(of: authority) : nil
      let fetched = try await requestObject(pending, at: input.requestURI, key, call)
      let object = try fetched.map { try key?.open($0) ?? $0 }
      let wallet = MockWallet(authority: authority, documents: try input.documents(), prover: prover)
      let (data, deviceResponses) = try respond(to: pending, object, by: wallet, input, at: call.application.clock())
      return OpenedMockResponse(
        session: pending.session, submitted: ["protocol": .string(pending.protocolName), "data": data],
        deviceResponses: deviceResponses)
    } catch let error as MockError {
      throw input.error(error)
    } catch let error as ServiceError {
      throw error
    } catch {
      throw ServiceError(.apiInternal, "The mock wallet failed.")
    }
  }

  /// The request object that a wallet fetches, or the link that contains the request; nil if the protocol sends the
  /// request directly.
  func requestObject(
    _ pending: PendingRequest, at address: String?, _ key: MockRequestKey?, _ call: RouteCall
  ) async throws(ServiceError) -> [UInt8]? {
    guard ProtocolFamily(ofProtocol: pending.protocolName) == .redirect else { return nil }
    if pending.data["request_uri"] == nil, let link = address ?? pending.data["authorization_request"]?.string {
      guard link.contains(pending.session.text) else {
        throw .invalidMember("/request_uri", "must be the link of the session, or of its page")
      }
      return Array(link.utf8)
    }
    let named = address.map { $0.split(separator: "/").dropLast().last.map(String.init) ?? "" }
    if let named, WalletPath(named)?.session != pending.session {
      throw .invalidMember("/request_uri", "must be the `request_uri` of the session, or of its page")
    }
    let metadata = key.map { $0.metadata.text() }
    return try await call.service.walletRequest(
      named ?? pending.session.text, of: pending.relyingParty.id,
      parameters: metadata.map { ["wallet_metadata": .string($0)] })
  }

  private func respond(
    to pending: PendingRequest, _ requestObject: [UInt8]?, by wallet: MockWallet, _ input: MockResponseInput,
    at now: Timestamp
  ) throws -> (data: JSON, deviceResponses: [[UInt8]]) {
    let request = input.restricted(MockRequest(pending.request, withAlternatives: input.isRestricted))
    // If the person withholds nothing, the wallet reads the elements from the request itself.
    let agreed = input.isRestricted ? request : nil
    if let requestObject {
      let link = AuthorizationLink(String(decoding: requestObject, as: UTF8.self))
      let made =
        try link.map {
          try wallet.answer(parameters: .object($0.parameters), request: agreed, variant: input.variant, at: now)
        } ?? wallet.answer(requestObject: requestObject, request: agreed, variant: input.variant, at: now)
      return (made.data, made.deviceResponses)
    }
    if let origin = pending.origin, ProtocolFamily(ofProtocol: pending.protocolName) == .web {
      let made = try wallet.answer(
        digitalCredential: pending.protocolName, data: pending.data, origin: origin, request: agreed,
        variant: input.variant, at: now)
      return (made.data, made.deviceResponses)
    }
    if let deviceRequest = pending.data["device_request"]?.string.flatMap(Base64.decodeURLSafe) {
      let meeting = try wallet.meet(
        readerAsking: deviceRequest, request: agreed, occasion: Array(pending.session.text.utf8),
        variant: input.variant, at: now)
      // A reader submits the parts of the transcript, the encrypted response, and its private key.
      func text(_ bytes: [UInt8]) -> JSON { .string(Base64.encodeURLSafe(bytes)) }
      let data: JSON = [
        "device_engagement": text(meeting.deviceEngagement), "e_reader_key": text(meeting.readerKey),
        "handover": "qr", "session_data": text(meeting.response.bytes),
        "reader_private_key": text(try meeting.readerPrivateKey.scalar().exposed()),
      ]
      return (data, [meeting.response.deviceResponse])
    }
    let merchant = pending.data["merchant_identifier"]?.string
    guard let apple = pending.relyingParty.apple.first(where: { $0.merchantID == merchant }),
      let recipient = apple.encryptionKeys.first,
      let nonce = pending.data["nonce"]?.string.flatMap(Base64.decode)
    else { throw MockError.unreadableRequest("\(pending.protocolName) has no nonce or no merchant") }
    let session = MockAppleSession(
      nonce: nonce, merchantID: apple.merchantID, teamID: apple.teamID, recipientKey: recipient.publicKey)
    let made = try wallet.answerApple(request, session: session, variant: input.variant, at: now)
    return (["encrypted_data": .string(Base64.encode(made.bytes))], [made.deviceResponse])
  }
}

extension MockRequest {
  /// - Parameter withAlternatives: whether the person may choose an alternative to an element.
  fileprivate init(_ request: PresentationRequest, withAlternatives: Bool) {
    self.init(
      documents: request.documents.map { document in
        Document(
          docType: document.docType,
          elements: document.elements.flatMap { [$0.element] + (withAlternatives ? $0.alternatives : []) }
            .map { ($0.namespace, $0.identifier) },
          ageOver: document.ageThresholds)
      })
  }
}

/// The body of `POST /v1/test/mock_responses`.
struct MockResponseInput: Equatable {
  let session: String
  /// One of the session's protocols; nil for the first.
  let protocolName: String?
  /// The address of the wallet's request, from a page's link or QR code; nil for the session's own address.
  let requestURI: String?
  /// True if the wallet accepts only an encrypted request.
  let wantsEncryptedRequest: Bool
  let variantName: String
  let elements: Elements
  let changes: [JSON.Member]
  /// The types of the documents that the wallet has; nil for all.
  var docTypes: [String]?

  /// The elements that the person agrees to disclose. An object is read as `changes`, as in earlier releases.
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
    "CreateMockResponse", "The response for a mock wallet to make.", MockResponseInput.init,
    Field(
      "session", \.session, .text(1...255, like: SessionID.pattern), "The session that the mock wallet responds to."),
    .optional(
      "protocol", \.protocolName, .text(), "The protocol of the response, one of the session's. By default its first."),
    .optional(
      "request_uri", \.requestURI, .text(1...4096),
      """
      The address of the wallet's request, from a page's link or QR code; or the link itself, if it holds the request. \
      By default the session's own.
      """),
    .optional(
      "encrypted_request", \.wantsEncryptedRequest, .flag, or: false,
      "Whether the wallet accepts only an encrypted request (`wallet_metadata`), by `openid4vp`."),
    .optional(
      "variant", \.variantName, variants, or: "good",
      """
      The deviation of the response; `mdoc mock variants` lists the names. A published list's name gives a right \
      response whose document refers to that list.
      """),
    .optional(
      "elements", \.elements, Elements.shape, or: Elements(),
      "The elements that the person agrees to disclose. By default all requested elements."),
    .optional(
      "changes", \.changes, changes, or: [],
      """
      Changes to the mock documents, by namespace and element. Null removes the element. \
      Dates and bytes have the forms of `mdoc mock`, such as `{"full_date": "2010-01-31"}`.
      """),
    .optional(
      "doc_types", \.docTypes, Shape<String>.text().list(0...Limits.documents),
      "The types of the documents that the wallet has. By default every type that the server knows."))

  static let variants: Shape<String> = {
    let names = MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name)
    return Shape(.oneOf("MockVariant", names).described("The deviation of a response, or none.")) {
      json, pointer, faults in
      if let name = json.string, variant(name) != nil { return name }
      faults.add(
        pointer, "must be a name that `mdoc mock variants` lists" + Spelling.hint(for: json.string ?? "", among: names))
      return nil
    } write: {
      .string($0)
    }
  }()

  private static let changes = Shape<[JSON.Member]>(.map(of: [:])) { json, pointer, faults in
    if let members = json.object { return members }
    faults.add(pointer, "must be an object with a member for each namespace")
    return nil
  } write: {
    .object($0)
  }

  /// The input for a full response to a session's request, over the session's first protocol.
  init(session: String, requestURI: String?, variantName: String) {
    self.init(
      session: session, protocolName: nil, requestURI: requestURI, wantsEncryptedRequest: false,
      variantName: variantName, elements: Elements(), changes: [])
  }

  private init(
    session: String, protocolName: String?, requestURI: String?, wantsEncryptedRequest: Bool, variantName: String,
    elements: Elements, changes: [JSON.Member], docTypes: [String]? = nil
  ) {
    self.session = session
    self.protocolName = protocolName
    self.requestURI = requestURI
    self.wantsEncryptedRequest = wantsEncryptedRequest
    self.variantName = variantName
    self.elements = elements
    self.changes = changes
    self.docTypes = docTypes
  }

  var variant: MockVariant { Self.variant(variantName) ?? .good }

  /// True if the person withholds an element.
  var isRestricted: Bool { elements.disclosed != nil }

  /// The request without the withheld elements.
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

  /// The mock person's documents after the changes. Each change applies to every document that has the element's
  /// namespace.
  func documents() throws -> [MockDocumentData] {
    var documents = (MockPerson.allDocuments + [MockPerson.secondLicence]).filter { document in
      docTypes?.contains { $0.hasSameBytes(as: document.docType) } ?? true
    }
    for namespace in changes + elements.changes {
      guard let elements = namespace.value.object else {
        throw MockError.invalidData(path: namespace.name, reason: "must be an object of elements")
      }
      // Parsed as document data, because that form supports dates and bytes.
      let form: JSON = ["doc_type": "changes", "namespaces": .object([.init(namespace.name, .object(elements))])]
      let read = try MockDocumentData(form)
      for index in documents.indices where documents[index].namespaces.contains(where: { $0.name == namespace.name }) {
        for element in elements {
          documents[index][namespace.name, element.name] =
            element.value.isNull ? nil : read[namespace.name, element.name]
        }
      }
    }
    return documents
  }

  /// The error with a pointer to the member that caused it.
  func error(_ error: MockError) -> ServiceError {
    switch error {
    case .invalidData(let path, let reason):
      .invalidMember(changes.isEmpty ? "/elements" : "/changes", "\(path): \(reason)")
    case .nothingToChange: .invalidMember("/variant", error.description)
    case .noRequestedDocument, .unreadableRequest, .cannotProve: .invalidMember("/session", error.description)
    case .curveCannotSign, .keyDerivationFailed: ServiceError(.apiInternal, "The mock wallet failed.")
    }
  }

  /// The variant with this name. The name of a published list gives a correct response with a reference to that list.
  private static func variant(_ name: String) -> MockVariant? {
    MockVariant.named(name) ?? MockPublishedList.named(name)?.variant
  }
}

/// The reply of `POST /v1/test/opened_mock_responses`.
struct OpenedMockResponse: Sendable {
  let session: SessionID
  /// The body of the submit request.
  let submitted: JSON
  let deviceResponses: [[UInt8]]

  static let shape = Shape<OpenedMockResponse>.open(
    "OpenedMockResponse", "A mock wallet's response, and its decrypted content.",
    [
      .always("answer", \.submitted, .any(SubmitBody.shape.schema), "The response, ready to submit."),
      .always(
        "device_responses", \.deviceResponses, Shape.base64URL.list,
        "The decrypted DeviceResponses, each in base64url."),
    ])
}

/// `POST /v1/test/diagnostics`: CBOR in diagnostic notation.
enum DiagnosticRoute {
  private struct Body: Equatable {
    let cbor: [UInt8]
    let showsValues: Bool

    static let shape = Shape.object(
      "CreateDiagnostic", "CBOR to be written in diagnostic notation.", Body.init,
      Field("cbor", \.cbor, .base64URL, "The bytes of one CBOR item, in base64url."),
      .optional(
        "show_values", \.showsValues, .flag, or: false, "Whether to include personal values and byte strings."))
  }

  private static let reply = Shape<String>.open(
    "Diagnostic", "CBOR in diagnostic notation.",
    [.always("diagnostic", { $0 }, .written(), "The item in diagnostic notation (RFC 8949, 8).")])

  /// As in `mdoc inspect`, personal values and byte strings are elided unless requested. Nothing is stored.
  static let route = Route(
    .post, "/v1/test/diagnostics", "createDiagnostic", "Write CBOR in diagnostic notation",
    "Follows RFC 8949, 8. By default, personal values and byte strings are elided.", access: .apiKey([.sessionsWrite]),
    body: .reading(Body.shape, [example]), success: .json("Diagnostic"), problems: [.apiInvalidRequest]
  ) { call throws(ServiceError) in
    let body = try Body.shape.value(of: call.body)
    do throws(CBORError) {
      let item = try CBORItem(parsing: body.cbor)
      return Reply(json: reply.write(CBORDiagnostic(showsValues: body.showsValues).describe(item)))
    } catch {
      throw .invalidMember("/cbor", "\(error.code.rawValue) at byte \(error.offset)")
    }
  }

  private static let example = RequestExample("map", "A map with one member.", ["cbor": "oWd2ZXJzaW9uYzEuMA"])

  static let schemas: [Schema.Member] = [.init("Diagnostic", reply.schema)]
}
