import CBOR

/// Where a variant goes wrong: one change to what is being made, at one stage of the making.
///
/// All stages after the change work on what it left, so that everything else about the answer stays right: an item that
/// is doubled before the digests are taken is digested and signed twice. The stages stand here in their order.
struct MockMutation: Sendable {
  /// The session as the device sees it (Apple in-app).
  var session: MockChange<AppleEnvelopeDraft>?
  /// Data, keys, certificates, dates: before anything is made.
  var setup: MockChange<AnswerSetup>?
  /// All items that the issuer signs, before they are digested.
  var items: MockChange<ItemsDraft>?
  var digests: MockChange<DigestsDraft>?
  /// The items that the wallet returns.
  var disclosure: MockChange<ItemsDraft>?
  /// The mobile security object.
  var mso: MockChange<MapDraft>?
  /// IssuerAuth before it is signed; and its four parts afterwards.
  var issuerAuth: MockChange<COSESign1Draft>?
  var issuerAuthParts: MockChange<[CBORValue]>?
  /// DeviceAuth before it is signed; the four parts of the signature afterwards; and DeviceSigned.
  var deviceAuth: MockChange<DeviceAuthDraft>?
  var deviceSignatureParts: MockChange<[CBORValue]>?
  var deviceSigned: MockChange<MapDraft>?
  var document: MockChange<MapDraft>?
  var response: MockChange<ResponseDraft>?
  var responseBytes: MockChange<[UInt8]>?
  /// What the envelope holds, then the envelope's members, then its bytes (Apple in-app).
  var plaintext: MockChange<PlaintextDraft>?
  var envelope: MockChange<MapDraft>?
  var envelopeBytes: MockChange<[UInt8]>?
  /// The session as the wallet sees it, then EncryptedResponse (ISO/IEC TS 18013-7, Annex C), then its bytes.
  var annexC: MockChange<AnnexCDraft>?
  var encryptedResponse: MockChange<EncryptedResponseDraft>?
  var encryptedResponseBytes: MockChange<[UInt8]>?
  /// The same of OpenID4VP: the session, `vp_token` and what stands beside it, the JWE and its five parts.
  var openID4VP: MockChange<OpenID4VPDraft>?
  var authorizationResponse: MockChange<AuthorizationResponseDraft>?
  var jwe: MockChange<JWEDraft>?
  var jweParts: MockChange<[String]>?
  /// What the page or the response endpoint gets, whichever web protocol it is.
  var webData: MockChange<WebDataDraft>?
  /// How the DeviceResponse around the documents is encoded.
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

/// A DeviceResponse to be made, with the means to make further documents for it.
struct ResponseDraft {
  var fields: MapDraft
  let request: MockRequest
  /// Another document of the first one's type, made with `change` and with its own random values.
  let anotherDocument: (_ label: String, _ change: MockMutation) throws -> CBORValue

  var documents: [CBORValue] {
    get { if case .array(let documents)? = fields["documents"] { documents } else { [] } }
    set { fields["documents"] = .array(newValue) }
  }
}

/// What Apple's envelope is to hold.
struct PlaintextDraft {
  let response: [UInt8]
  /// `{"identity": DeviceResponse}`.
  var value: CBORValue

  init(response: [UInt8]) {
    self.response = response
    value = ["identity": .encoded(response)]
  }
}

/// The items of a document: all that the issuer signs, or later those that the wallet returns.
struct ItemsDraft {
  let setup: AnswerSetup
  var namespaces: [IssuedNamespace]

  /// Changes the item that stands for any requested element.
  mutating func changeTarget(_ change: (inout IssuedItem) throws -> Void) throws {
    let (namespace, item) = try target()
    try change(&namespaces[namespace].items[item])
  }

  /// Where it stands.
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

  /// Changes the digest of any requested element; nil removes it.
  mutating func changeTarget(_ change: ([UInt8]) -> [UInt8]?) throws {
    let (namespace, item) = try items.target()
    let identifier = items.namespaces[namespace].items[item].digestID
    namespaces[namespace].digests = namespaces[namespace].digests.compactMap { entry in
      guard entry.id == identifier else { return entry }
      return change(entry.digest).map { (entry.id, $0) }
    }
  }
}
