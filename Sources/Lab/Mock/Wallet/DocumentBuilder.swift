import Base
import CBOR
import Cryptography

/// Makes one document: issues it, discloses the requested elements, and lets the device sign. Each stage has a file of
/// its own; this one has their order.
struct DocumentBuilder {
  let authority: MockAuthority
  let held: [MockDocumentData]
  let deviceCurve: Curve
  let issuing: MockIssuing
  /// The wallet's seed, for the device key.
  let walletSeed: MockSeed
  /// The answer's own seed, for everything that is fresh.
  let seed: MockSeed
  let transcript: [UInt8]
  let authentication: MockDeviceAuthentication
  /// The verifier's key for variants that send a MAC in place of a signature.
  var readerKey: PublicKey?
  let now: Timestamp

  func document(
    _ data: MockDocumentData, answering requested: MockRequest.Document, mutation: MockMutation
  ) throws -> CBORValue {
    var setup = try makeSetup(data, requested)
    try mutation.setup?(&setup)
    let dated = setup.data.attestingAges(on: setup.validityStart.date)
    var items = ItemsDraft(setup: setup, namespaces: try .init(issuing: dated, seed: seed, style: setup.style))
    try mutation.items?(&items)
    var digests = DigestsDraft(items: items, namespaces: items.namespaces.digests(setup.digestAlgorithm))
    try mutation.digests?(&digests)
    var mso = mobileSecurityObject(setup, digests: digests.namespaces, deviceKey: setup.deviceKey.publicKey)
    try mutation.mso?(&mso)

    var disclosed = ItemsDraft(setup: setup, namespaces: items.namespaces.disclosing(setup.disclosed(of: dated)))
    try mutation.disclosure?(&disclosed)
    var issuerSigned = MapDraft()
    if !disclosed.namespaces.isEmpty { issuerSigned["nameSpaces"] = disclosed.namespaces.presented }
    issuerSigned["issuerAuth"] = try issuerAuth(setup, mso: mso, mutation: mutation)

    var document = MapDraft([("docType", .text(setup.data.docType)), ("issuerSigned", issuerSigned.value)])
    document["deviceSigned"] = try deviceSigned(setup, mutation: mutation)
    try mutation.document?(&document)
    return .encoded(setup.style.encode(document.value))
  }

  private func makeSetup(_ data: MockDocumentData, _ requested: MockRequest.Document) throws -> AnswerSetup {
    var setup = AnswerSetup(
      authority: authority, now: now, seed: seed, requested: requested, held: held, data: data,
      signer: try MockSigner(
        authority: authority, under: authority.certificateIssuer(.good), at: now),
      // Each copy of a document has a device key of its own.
      deviceKey: try walletSeed.key(
        "device/\(data.docType)" + (requested.copy == 0 ? "" : "/\(requested.copy)"), on: deviceCurve),
      validity: ValidityInfo(
        signed: now - issuing.age, validFrom: now - issuing.age, validUntil: now + issuing.remainingLifetime))
    setup.useDigests(issuing.digestAlgorithm)
    setup.keyAuthorizations = issuing.keyAuthorizations
    setup.status = issuing.status
    return setup
  }

  /// IssuerAuth: an untagged COSE_Sign1 over `#6.24(bstr .cbor MobileSecurityObject)`, with x5chain in the unprotected
  /// header.
  private func issuerAuth(_ setup: AnswerSetup, mso: MapDraft, mutation: MockMutation) throws -> CBORValue {
    let payload = setup.style.encode(.tagged(24, .bytes(setup.style.encode(mso.value))))
    var draft = COSESign1Draft(payload: payload, isDetached: false, key: setup.signer.key)
    draft.style = setup.style
    draft.content = mso
    draft.unprotected[33] = try setup.signer.x5chain()
    try mutation.issuerAuth?(&draft)
    var parts = try draft.parts()
    try mutation.issuerAuthParts?(&parts)
    return .array(parts)
  }

  private func deviceSigned(_ setup: AnswerSetup, mutation: MockMutation) throws -> CBORValue {
    let nameSpaces = setup.style.embed(
      .map(
        setup.deviceSigned.map { namespace in
          (.text(namespace.namespace), .map(namespace.elements.map { (.text($0.identifier), $0.value) }))
        }))
    var draft = DeviceAuthDraft(
      seed: seed, transcript: transcript, docType: setup.data.docType, nameSpaces: nameSpaces.encoded(),
      key: setup.deviceKey, hasSignature: true, hasMAC: false, readerKey: readerKey, style: setup.style)
    if case .mac(let readerKey) = authentication {
      draft.readerKey = readerKey
      draft.hasSignature = false
      draft.hasMAC = true
    }
    try mutation.deviceAuth?(&draft)
    var deviceAuth = MapDraft()
    if draft.hasSignature {
      var parts = try draft.signatureParts()
      try mutation.deviceSignatureParts?(&parts)
      deviceAuth["deviceSignature"] = .array(parts)
    }
    if draft.hasMAC { deviceAuth["deviceMac"] = .array(try draft.macParts()) }
    var fields = MapDraft([("nameSpaces", .encoded(draft.nameSpaces)), ("deviceAuth", deviceAuth.value)])
    try mutation.deviceSigned?(&fields)
    return fields.value
  }
}

extension AnswerSetup {
  /// The time for which the issuer computes ages: `validFrom`, or `now` if that is no date.
  var validityStart: Timestamp {
    if case .tagged(0, .text(let text)) = validity.validFrom, let time = Timestamp(rfc3339: text) { time } else { now }
  }
}

extension [IssuedNamespace] {
  /// The items of these elements, in the issuer's order. Namespaces without such items are left out.
  func disclosing(_ elements: [AnswerSetup.Element]) -> [IssuedNamespace] {
    compactMap { namespace in
      let items = namespace.items.filter { item in elements.contains { $0 == (namespace.name, item.identifier) } }
      return items.isEmpty ? nil : IssuedNamespace(name: namespace.name, items: items)
    }
  }
}
