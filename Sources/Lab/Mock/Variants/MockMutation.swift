import CBOR

/// Where a variant goes wrong: one change to what is being made, at one stage of the making.
///
/// All stages after the change work on what it left, so that everything else about the answer stays right: an item that
/// is doubled before the digests are taken is digested and signed twice. The stages stand here in their order.
struct MockMutation: Sendable {
  typealias Change<Draft> = @Sendable (inout Draft) throws -> Void

  /// The session as the device sees it (Apple in-app).
  var session: Change<AppleEnvelopeDraft>?
  /// Data, keys, certificates, dates: before anything is made.
  var setup: Change<AnswerSetup>?
  /// All items that the issuer signs, before they are digested.
  var items: Change<ItemsDraft>?
  var digests: Change<DigestsDraft>?
  /// The items that the wallet returns.
  var disclosure: Change<ItemsDraft>?
  /// The mobile security object.
  var mso: Change<MapDraft>?
  /// IssuerAuth before it is signed; and its four parts afterwards.
  var issuerAuth: Change<COSESign1Draft>?
  var issuerAuthParts: Change<[CBORValue]>?
  /// DeviceAuth before it is signed; the four parts of the signature afterwards; and DeviceSigned.
  var deviceAuth: Change<DeviceAuthDraft>?
  var deviceSignatureParts: Change<[CBORValue]>?
  var deviceSigned: Change<MapDraft>?
  var document: Change<MapDraft>?
  var response: Change<ResponseDraft>?
  var responseBytes: Change<[UInt8]>?
  /// What the envelope holds, then the envelope's members, then its bytes (Apple in-app).
  var plaintext: Change<PlaintextDraft>?
  var envelope: Change<MapDraft>?
  var envelopeBytes: Change<[UInt8]>?
  /// The session as the wallet sees it, then EncryptedResponse (ISO/IEC TS 18013-7, Annex C), then its bytes.
  var annexC: Change<AnnexCDraft>?
  var encryptedResponse: Change<EncryptedResponseDraft>?
  var encryptedResponseBytes: Change<[UInt8]>?
  /// The same of OpenID4VP: the session, `vp_token` and what stands beside it, the JWE and its five parts.
  var openID4VP: Change<OpenID4VPDraft>?
  var authorizationResponse: Change<AuthorizationResponseDraft>?
  var jwe: Change<JWEDraft>?
  var jweParts: Change<[String]>?
  /// What the page or the response endpoint gets, whichever web protocol it is.
  var webData: Change<WebDataDraft>?
  /// How the DeviceResponse around the documents is encoded.
  var style = EncodingStyle.shortest

  static let none = MockMutation()

  static func session(_ change: @escaping Change<AppleEnvelopeDraft>) -> Self { .init(session: change) }
  static func setup(_ change: @escaping Change<AnswerSetup>) -> Self { .init(setup: change) }
  static func items(_ change: @escaping Change<ItemsDraft>) -> Self { .init(items: change) }
  static func digests(_ change: @escaping Change<DigestsDraft>) -> Self { .init(digests: change) }
  static func disclosure(_ change: @escaping Change<ItemsDraft>) -> Self { .init(disclosure: change) }
  static func mso(_ change: @escaping Change<MapDraft>) -> Self { .init(mso: change) }
  static func issuerAuth(_ change: @escaping Change<COSESign1Draft>) -> Self { .init(issuerAuth: change) }
  static func issuerAuthParts(_ change: @escaping Change<[CBORValue]>) -> Self { .init(issuerAuthParts: change) }
  static func deviceAuth(_ change: @escaping Change<DeviceAuthDraft>) -> Self { .init(deviceAuth: change) }
  static func deviceSignatureParts(_ change: @escaping Change<[CBORValue]>) -> Self {
    .init(
      deviceAuth: { $0.signOnly() }, deviceSignatureParts: change)
  }
  static func deviceSigned(_ change: @escaping Change<MapDraft>) -> Self { .init(deviceSigned: change) }
  static func document(_ change: @escaping Change<MapDraft>) -> Self { .init(document: change) }
  static func response(_ change: @escaping Change<ResponseDraft>) -> Self { .init(response: change) }
  static func responseBytes(_ change: @escaping Change<[UInt8]>) -> Self { .init(responseBytes: change) }
  static func plaintext(_ change: @escaping Change<PlaintextDraft>) -> Self { .init(plaintext: change) }
  static func envelope(_ change: @escaping Change<MapDraft>) -> Self { .init(envelope: change) }
  static func envelopeBytes(_ change: @escaping Change<[UInt8]>) -> Self { .init(envelopeBytes: change) }
  static func annexC(_ change: @escaping Change<AnnexCDraft>) -> Self { .init(annexC: change) }
  static func encryptedResponse(_ change: @escaping Change<EncryptedResponseDraft>) -> Self {
    .init(encryptedResponse: change)
  }
  static func encryptedResponseBytes(_ change: @escaping Change<[UInt8]>) -> Self {
    .init(encryptedResponseBytes: change)
  }
  static func openID4VP(_ change: @escaping Change<OpenID4VPDraft>) -> Self { .init(openID4VP: change) }
  static func authorizationResponse(_ change: @escaping Change<AuthorizationResponseDraft>) -> Self {
    .init(authorizationResponse: change)
  }
  static func jwe(_ change: @escaping Change<JWEDraft>) -> Self { .init(jwe: change) }
  static func jweParts(_ change: @escaping Change<[String]>) -> Self { .init(jweParts: change) }
  static func webData(_ change: @escaping Change<WebDataDraft>) -> Self { .init(webData: change) }
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
