import CBOR

/// What makes a variant wrong: a change to one stage of the making of an answer.
///
/// All later stages work on what the change left, so everything else about the answer stays right. For example, an item
/// that is doubled before the digests are made is digested and signed twice. The stages stand here in their order.
struct MockMutation: Sendable {
  /// The session as the device sees it (Apple in-app).
  var session: MockChange<AppleEnvelopeDraft>?
  /// Data, keys, certificates and dates, before anything is made.
  var setup: MockChange<AnswerSetup>?
  /// All items that the issuer signs, before they are digested.
  var items: MockChange<ItemsDraft>?
  var digests: MockChange<DigestsDraft>?
  /// The items that the wallet returns.
  var disclosure: MockChange<ItemsDraft>?
  /// The mobile security object.
  var mso: MockChange<MapDraft>?
  /// IssuerAuth before it is signed, and its four parts afterwards.
  var issuerAuth: MockChange<COSESign1Draft>?
  var issuerAuthParts: MockChange<[CBORValue]>?
  /// DeviceAuth before it is signed, the four parts of its signature afterwards, and DeviceSigned.
  var deviceAuth: MockChange<DeviceAuthDraft>?
  var deviceSignatureParts: MockChange<[CBORValue]>?
  var deviceSigned: MockChange<MapDraft>?
  var document: MockChange<MapDraft>?
  /// Seconds between the answer's time and the one that a proof is made for.
  var proofTime: Int64 = 0
  /// The document of a proof, once it is proven.
  var zkDocument: MockChange<ZkDocumentDraft>?
  var response: MockChange<ResponseDraft>?
  var responseBytes: MockChange<[UInt8]>?
  /// The envelope's plaintext, then the envelope's members, then its bytes (Apple in-app).
  var plaintext: MockChange<PlaintextDraft>?
  var envelope: MockChange<MapDraft>?
  var envelopeBytes: MockChange<[UInt8]>?
  /// The session as the wallet sees it, then EncryptedResponse, then its bytes (ISO/IEC TS 18013-7, Annex C).
  var annexC: MockChange<AnnexCDraft>?
  var encryptedResponse: MockChange<EncryptedResponseDraft>?
  var encryptedResponseBytes: MockChange<[UInt8]>?
  /// The session as the wallet sees it, then `vp_token` and the other members, then the JWE, then its five parts
  /// (OpenID4VP).
  var openID4VP: MockChange<OpenID4VPDraft>?
  var authorizationResponse: MockChange<AuthorizationResponseDraft>?
  var jwe: MockChange<JWEDraft>?
  var jweParts: MockChange<[String]>?
  /// The answer for the page or the response endpoint, in any web protocol.
  var webData: MockChange<WebDataDraft>?
  /// The encoding of the DeviceResponse around the documents.
  var style = EncodingStyle.shortest

  static let none = MockMutation()

  static func session(_ change: @escaping MockChange<AppleEnvelopeDraft>) -> Self { .init(session: change) }
  static func setup(_ change: @escaping MockChange<AnswerSetup>) -> Self { .init(setup: change) }
  static func items(_ change: @escaping MockChange<ItemsDraft>) -> Self { .init(items: change) }
  static func digests(_ change: @escaping MockChange<DigestsDraft>) -> Self { .init(digests: change) }
  static func disclosure(_ change: @escaping MockChange<ItemsDraft>) -> Self { .init(disclosure: change) }
  static func mso(_ change: @escaping MockChange<MapDraft>) -> Self { .init(mso: change) }
  static func issuerAuth(_ change: @escaping MockChange<COSESign1Draft>) -> Self { .init(issuerAuth: change) }
  static func issuerAuthParts(_ change: @escaping MockChange<[CBORValue]>) -> Self { .init(issuerAuthParts: change) }
  static func deviceAuth(_ change: @escaping MockChange<DeviceAuthDraft>) -> Self { .init(deviceAuth: change) }
  static func deviceSignatureParts(_ change: @escaping MockChange<[CBORValue]>) -> Self {
    .init(
      deviceAuth: { $0.signOnly() }, deviceSignatureParts: change)
  }
  static func deviceSigned(_ change: @escaping MockChange<MapDraft>) -> Self { .init(deviceSigned: change) }
  static func document(_ change: @escaping MockChange<MapDraft>) -> Self { .init(document: change) }
  static func zkDocument(_ change: @escaping MockChange<ZkDocumentDraft>) -> Self { .init(zkDocument: change) }
  static func response(_ change: @escaping MockChange<ResponseDraft>) -> Self { .init(response: change) }
  static func responseBytes(_ change: @escaping MockChange<[UInt8]>) -> Self { .init(responseBytes: change) }
  static func plaintext(_ change: @escaping MockChange<PlaintextDraft>) -> Self { .init(plaintext: change) }
  static func envelope(_ change: @escaping MockChange<MapDraft>) -> Self { .init(envelope: change) }
  static func envelopeBytes(_ change: @escaping MockChange<[UInt8]>) -> Self { .init(envelopeBytes: change) }
  static func annexC(_ change: @escaping MockChange<AnnexCDraft>) -> Self { .init(annexC: change) }
  static func encryptedResponse(_ change: @escaping MockChange<EncryptedResponseDraft>) -> Self {
    .init(encryptedResponse: change)
  }
  static func encryptedResponseBytes(_ change: @escaping MockChange<[UInt8]>) -> Self {
    .init(encryptedResponseBytes: change)
  }
  static func openID4VP(_ change: @escaping MockChange<OpenID4VPDraft>) -> Self { .init(openID4VP: change) }
  static func authorizationResponse(_ change: @escaping MockChange<AuthorizationResponseDraft>) -> Self {
    .init(authorizationResponse: change)
  }
  static func jwe(_ change: @escaping MockChange<JWEDraft>) -> Self { .init(jwe: change) }
  static func jweParts(_ change: @escaping MockChange<[String]>) -> Self { .init(jweParts: change) }
  static func webData(_ change: @escaping MockChange<WebDataDraft>) -> Self { .init(webData: change) }
}

/// A DeviceResponse that is still to be made, and a function that makes further documents for it.
struct ResponseDraft {
  var fields: MapDraft
  let request: MockRequest
  /// Makes another document of the first one's type, with `change` and with random values of its own.
  let anotherDocument: (_ label: String, _ change: MockMutation) throws -> CBORValue

  var documents: [CBORValue] {
    get { if case .array(let documents)? = fields["documents"] { documents } else { [] } }
    set { fields["documents"] = .array(newValue) }
  }
}

/// The plaintext of Apple's envelope.
struct PlaintextDraft {
  let response: [UInt8]
  /// `{"identity": DeviceResponse}`.
  var value: CBORValue

  init(response: [UInt8]) {
    self.response = response
    value = ["identity": .encoded(response)]
  }
}

/// The items of a document: at first all that the issuer signs, later those that the wallet returns.
struct ItemsDraft {
  let setup: AnswerSetup
  var namespaces: [IssuedNamespace]

  /// Changes the item of a requested element (`AnswerSetup.anyRequested`).
  mutating func changeTarget(_ change: (inout IssuedItem) throws -> Void) throws {
    let (namespace, item) = try target()
    try change(&namespaces[namespace].items[item])
  }

  /// The positions of that item and of its namespace.
  func target() throws -> (namespace: Int, item: Int) {
    let element = setup.anyRequested
    for (namespace, items) in namespaces.enumerated() where items.name == element.namespace {
      if let item = items.items.firstIndex(where: { $0.identifier == element.identifier }) { return (namespace, item) }
    }
    throw MockError.nothingToChange("\(element.namespace)/\(element.identifier) is not there")
  }
}

/// The digests that go into the mobile security object.
struct DigestsDraft {
  let items: ItemsDraft
  var namespaces: [DigestNamespace]

  /// Changes the digest of a requested element (`AnswerSetup.anyRequested`); nil removes it.
  mutating func changeTarget(_ change: ([UInt8]) -> [UInt8]?) throws {
    let (namespace, item) = try items.target()
    let identifier = items.namespaces[namespace].items[item].digestID
    namespaces[namespace].digests = namespaces[namespace].digests.compactMap { entry in
      guard entry.id == identifier else { return entry }
      return change(entry.digest).map { (entry.id, $0) }
    }
  }
}
