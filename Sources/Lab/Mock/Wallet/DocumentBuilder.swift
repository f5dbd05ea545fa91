import Base
import CBOR
import Cryptography

/// Makes one document: issues it, discloses the requested elements, and lets the device sign.
struct DocumentBuilder {
  let wallet: MockWallet
  /// The response's own seed, for all fresh values.
  let seed: MockSeed
  let transcript: [UInt8]
  let authentication: MockDeviceAuthentication
  /// The verifier's key, for variants that send a MAC.
  let readerKey: PublicKey?
  let now: Timestamp

  func document(
    _ data: MockDocumentData, for requested: MockRequest.Document, mutation: MockMutation
  ) throws -> CBORValue {
    var setup = try DocumentSetup(data, for: requested, in: self)
    setup.style = try mutation.settings.style
    let signer = setup.signer
    try mutation.apply(Stages.setup, to: &setup)
    if wallet.authority.givenSigner != nil, try !setup.signer.isCertified(like: signer) {
      throw MockError.nothingToChange("it needs a certificate other than the given signer's")
    }
    let dated = setup.data.attestingAges(on: setup.validityStart.date)
    var items = ItemsDraft(setup: setup, namespaces: try .init(issuing: dated, seed: seed, style: setup.style))
    try mutation.apply(Stages.items, to: &items)
    var digests = DigestsDraft(items: items, namespaces: items.namespaces.digests(setup.digestAlgorithm))
    try mutation.apply(Stages.digests, to: &digests)
    var mso = mobileSecurityObject(setup, digests: digests.namespaces, deviceKey: setup.deviceKey.publicKey)
    try mutation.apply(Stages.mso, to: &mso)

    var disclosed = ItemsDraft(setup: setup, namespaces: items.namespaces.disclosing(setup.disclosed(of: dated)))
    try mutation.apply(Stages.disclosure, to: &disclosed)
    var issuerSigned = MapDraft()
    if !disclosed.namespaces.isEmpty { issuerSigned["nameSpaces"] = disclosed.namespaces.presented }
    issuerSigned["issuerAuth"] = try issuerAuth(setup, mso: mso, mutation: mutation)

    var document = MapDraft([("docType", .text(setup.data.docType)), ("issuerSigned", issuerSigned.value)])
    document["deviceSigned"] = try deviceSigned(setup, mutation: mutation)
    try mutation.apply(Stages.document, to: &document)
    return .encoded(setup.style.encode(document.value))
  }

  /// IssuerAuth: an untagged COSE_Sign1 over `#6.24(bstr .cbor MobileSecurityObject)`, with an unprotected x5chain.
  private func issuerAuth(_ setup: DocumentSetup, mso: MapDraft, mutation: MockMutation) throws -> CBORValue {
    let payload = setup.style.encode(.tagged(24, .bytes(setup.style.encode(mso.value))))
    var draft = COSESign1Draft(payload: payload, isDetached: false, key: setup.signer.key)
    draft.style = setup.style
    draft.content = mso
    draft.unprotected[33] = try setup.signer.x5chain()
    try mutation.apply(Stages.issuerAuth, to: &draft)
    var parts = try draft.parts()
    try mutation.apply(Stages.issuerAuthParts, to: &parts)
    return .array(parts)
  }

  private func deviceSigned(_ setup: DocumentSetup, mutation: MockMutation) throws -> CBORValue {
    let nameSpaces = setup.style.embed(setup.deviceSigned.content.value)
    var draft = DeviceAuthDraft(
      seed: seed, transcript: transcript, docType: setup.data.docType, nameSpaces: nameSpaces.encoded(),
      key: setup.deviceKey, readerKey: readerKey, style: setup.style)
    if case .mac(let readerKey) = authentication {
      (draft.readerKey, draft.hasSignature, draft.hasMAC) = (readerKey, false, true)
    }
    try mutation.apply(Stages.deviceAuth, to: &draft)
    var deviceAuth = MapDraft()
    if draft.hasSignature {
      var parts = try draft.signatureParts { try mutation.apply(Stages.deviceSignature, to: &$0) }
      try mutation.apply(Stages.deviceSignatureParts, to: &parts)
      deviceAuth["deviceSignature"] = .array(parts)
    }
    if draft.hasMAC {
      deviceAuth["deviceMac"] = .array(try draft.macParts { try mutation.apply(Stages.deviceMAC, to: &$0) })
    }
    var fields = MapDraft([("nameSpaces", .encoded(draft.nameSpaces)), ("deviceAuth", deviceAuth.value)])
    try mutation.apply(Stages.deviceSigned, to: &fields)
    return fields.value
  }
}

extension [IssuedNamespace] {
  /// The items of these elements, in the issuer's order. Empty namespaces are omitted.
  fileprivate func disclosing(_ elements: [MockRequest.Document.Element]) -> [IssuedNamespace] {
    compactMap { namespace in
      let items = namespace.items.filter { item in elements.contains { $0 == (namespace.name, item.identifier) } }
      return items.isEmpty ? nil : IssuedNamespace(name: namespace.name, items: items)
    }
  }
}

/// The settings of one document, before anything is signed.
struct DocumentSetup: Sendable {
  typealias Element = MockRequest.Document.Element

  let authority: MockAuthority
  let now: Timestamp
  let requested: MockRequest.Document
  /// All documents of the wallet.
  let held: [MockDocumentData]

  var data: MockDocumentData
  var signer: MockSigner
  var deviceKey: PrivateKey
  var digestAlgorithm = HashAlgorithm.sha256
  var digestAlgorithmName = "SHA-256"
  var validity: ValidityInfo
  var keyAuthorizations: CBORValue?
  var status: CBORValue?
  /// Unrequested elements to return, and requested elements to withhold.
  var added: [Element] = []
  var withheld: [Element] = []
  /// Elements that the device signs.
  var deviceSigned: [MockDocumentData.Namespace] = []
  var style = EncodingStyle.shortest

  fileprivate init(_ data: MockDocumentData, for requested: MockRequest.Document, in builder: DocumentBuilder) throws {
    let (wallet, issuing, now) = (builder.wallet, builder.wallet.issuing, builder.now)
    authority = wallet.authority
    self.now = now
    self.requested = requested
    held = wallet.documents
    self.data = data
    signer = try MockSigner(authority: authority, under: authority.certificateIssuer(.good), at: now)
    if let given = authority.givenSigner, let certificate = given.chain.first {
      signer.key = given.key
      signer.finish = { _ in certificate }
      signer.further = Array(given.chain.dropFirst())
    }
    let signed = max(now - issuing.age, authority.givenSigner?.notBefore ?? now - issuing.age)
    // Each copy of a document has its own device key.
    deviceKey = try authority.seed.key(
      "device/\(data.docType)" + (requested.copy == 0 ? "" : "/\(requested.copy)"), on: wallet.deviceCurve)
    validity = ValidityInfo(
      signed: signed, validFrom: signed, validUntil: now + issuing.remainingLifetime)
    keyAuthorizations = issuing.keyAuthorizations
    status = issuing.status
    useDigests(issuing.digestAlgorithm)
  }

  /// The time at which the issuer computes the ages: `validFrom`, or `now` if `validFrom` is not a date.
  fileprivate var validityStart: Timestamp {
    if case .tagged(0, .text(let text)) = validity.validFrom, let time = Timestamp(rfc3339: text) { time } else { now }
  }

  /// The namespace that contains the birth date; otherwise the first namespace.
  var mainNamespace: String {
    data.namespaces.first { $0["birth_date"] != nil }?.name ?? data.namespaces.first?.name ?? "org.example.empty"
  }

  /// The element that variants change: the document's first requested element that is not an age attestation.
  var anyRequested: Element {
    requested.elements.first { data[$0.namespace, $0.identifier] != nil && ageThreshold(of: $0.identifier) == nil }
      ?? (mainNamespace, data.namespaces.first { $0.name == mainNamespace }?.elements.first?.identifier ?? "none")
  }

  /// The document's requested elements (ISO/IEC 18013-5, 8.3.2.1.2.2 and 7.2.5), after a variant's additions and
  /// removals.
  fileprivate func disclosed(of data: MockDocumentData) -> [Element] {
    var chosen: [Element] = []
    func choose(_ element: Element) {
      if !(withheld + chosen).contains(where: { $0 == element }) { chosen.append(element) }
    }
    for element in requested.elements {
      if let threshold = ageThreshold(of: element.identifier) {
        if let nearest = nearest(threshold, in: element.namespace, of: data) { choose(nearest) }
      } else if data[element.namespace, element.identifier] != nil {
        choose(element)
      }
    }
    for threshold in requested.ageOver {
      if let nearest = nearest(threshold, in: mainNamespace, of: data) { choose(nearest) }
    }
    for element in added { choose(element) }
    return chosen
  }

  private func nearest(_ threshold: Int, in namespace: String, of data: MockDocumentData) -> Element? {
    guard let elements = data.namespaces.first(where: { $0.name == namespace })?.elements else { return nil }
    let candidates = elements.filter { element in !withheld.contains { $0 == (namespace, element.identifier) } }
    return nearestAgeAttestation(to: threshold, in: candidates).map { (namespace, $0) }
  }
}

/// The parts of DeviceSigned (ISO/IEC 18013-5, 9.1.3), before the signature or MAC is made.
struct DeviceAuthDraft: Sendable {
  /// The response's own seed.
  let seed: MockSeed
  var transcript: [UInt8]
  var docType: String
  /// DeviceNameSpacesBytes, tag 24 included.
  var nameSpaces: [UInt8]
  var key: PrivateKey
  var hasSignature = true
  var hasMAC = false
  /// The reader's public key for deriving the MAC key; nil to use a key that no reader has.
  var readerKey: PublicKey?
  /// The HKDF `info` for deriving the MAC key.
  var macKeyInfo = "EMacKey"
  /// The number of MAC bytes to send.
  var macLength: Int64 = 32
  var style = EncodingStyle.shortest

  /// `#6.24(bstr .cbor ["DeviceAuthentication", SessionTranscript, DocType, DeviceNameSpacesBytes])`.
  var deviceAuthenticationBytes: [UInt8] {
    CBORValue.embedded(["DeviceAuthentication", .encoded(transcript), .text(docType), .encoded(nameSpaces)]).encoded()
  }

  func signatureParts(_ change: (inout COSESign1Draft) throws -> Void) throws -> [CBORValue] {
    var draft = COSESign1Draft(payload: deviceAuthenticationBytes, isDetached: true, key: key)
    draft.style = style
    try change(&draft)
    return try draft.parts()
  }

  func macParts(_ change: (inout COSEMac0Draft) throws -> Void) throws -> [CBORValue] {
    var draft = COSEMac0Draft(payload: deviceAuthenticationBytes, key: try macKey())
    try change(&draft)
    var parts = draft.parts()
    parts.signature = Array(parts.signature.prefix(Int(macLength)))
    return parts
  }

  /// EMacKey (ISO/IEC 18013-5, 9.1.3.5). It is derived with the salt SHA-256(SessionTranscriptBytes).
  private func macKey() throws -> [UInt8] {
    let curve = key.curve.family == .edwards ? Curve.p256 : key.curve
    let peer = try readerKey ?? seed.key("absent reader", on: curve).publicKey
    let agreeing = peer.curve == key.curve ? key : try seed.key("absent device", on: peer.curve)
    let salt = HashAlgorithm.sha256.hash(CBORValue.tagged(24, .bytes(transcript)).encoded())
    return try HKDF.deriveKey(
      from: try agreeing.sharedSecret(with: peer), salt: salt, info: Array(macKeyInfo.utf8), length: 32
    ).exposed()
  }
}
