import Base
import CBOR
import Cryptography
import Longfellow

/// A mock wallet with documents of the mock authority. Its responses are correct, or have a variant's deviation.
///
/// The same seed, data, request, session, variant and time give the same bytes.
package struct MockWallet: Sendable {
  package let authority: MockAuthority
  package let documents: [MockDocumentData]
  package let deviceCurve: Curve
  /// The authority's settings for issuing the documents.
  package let issuing: MockIssuing
  /// Makes zero-knowledge proofs; nil for a wallet that makes none.
  package let prover: MockProver?
  /// True if the wallet fulfils a DCQL query only in full, as OpenID4VP 1.0, 6.4.2 prescribes. If false, the wallet
  /// also responds in part, so that a rejection can be tested.
  package var answersOnlyInFull = false

  package init(
    authority: MockAuthority, documents: [MockDocumentData] = MockPerson.documents, deviceCurve: Curve = .p256,
    issuing: MockIssuing = MockIssuing(), prover: MockProver? = nil
  ) {
    self.authority = authority
    self.documents = documents
    self.deviceCurve = deviceCurve
    self.issuing = issuing
    self.prover = prover
  }

  /// The response to Apple's in-app request: an `APPLE-HPKE-v1` envelope with the wallet's first requested document.
  package func answerApple(
    _ request: MockRequest, session: MockAppleSession, variant: MockVariant = .good, at now: Timestamp
  ) throws -> MockWalletResponse {
    let expected = AppleEnvelopeDraft(session)
    return try variant.applied(over: MockProtocol.appleInApp, seen: \.bytes) { mutation in
      var envelope = expected
      try mutation.apply(Stages.session, to: &envelope)
      let seed = try responseSeed(envelope.transcript)
      let response = try deviceResponse(
        request, transcript: envelope.transcript, authentication: .signature, mutation: mutation, documentLimit: 1,
        seed: seed, at: now)
      var plaintext = PlaintextDraft(response: response)
      try mutation.apply(Stages.plaintext, to: &plaintext)
      let message = plaintext.value.encoded()
      // Each message has its own key: two variants of one session must not share a GCM key and nonce.
      let ephemeral = try seed.child("hpke", context: message).key("ephemeral", on: .p256)
      var fields = try envelope.seal(message, ephemeralKey: ephemeral)
      try mutation.apply(Stages.envelope, to: &fields)
      var bytes = fields.value.encoded()
      try mutation.apply(Stages.envelopeBytes, to: &bytes)
      return MockWalletResponse(
        bytes: bytes, deviceResponse: response, sessionTranscript: expected.transcript, variant: variant)
    }
  }

  /// A DeviceResponse for this transcript, with every requested document that the wallet has.
  package func answer(
    _ request: MockRequest, transcript: [UInt8], authentication: MockDeviceAuthentication = .signature,
    variant: MockVariant = .good, at now: Timestamp
  ) throws -> MockWalletResponse {
    let response = try variant.applied(
      over: MockProtocol.anyTranscript, usesMAC: authentication.isMAC, hasProofs: proves(request), seen: \.self
    ) { mutation in
      try deviceResponse(
        request, transcript: transcript, authentication: authentication, mutation: mutation,
        documentLimit: request.documents.count, seed: responseSeed(transcript), at: now)
    }
    return MockWalletResponse(
      bytes: response, deviceResponse: response, sessionTranscript: transcript, variant: variant)
  }

  /// True if the response to this request has a proof.
  func proves(_ request: MockRequest) -> Bool {
    prover.map { prover in request.documents.contains { prover.canProve($0) } } ?? false
  }

  /// The seed of a response. Every session has its own seed, since it has its own transcript.
  func responseSeed(_ transcript: [UInt8]) throws -> MockSeed {
    try authority.seed.child("answer", context: transcript)
  }

  /// - Parameter whole: the session's whole request if it gets several DeviceResponses; nil if `request` is the whole
  ///   request.
  func deviceResponse(
    _ request: MockRequest, of whole: MockRequest? = nil, transcript: [UInt8],
    authentication: MockDeviceAuthentication, readerKey: PublicKey? = nil, mutation: MockMutation, documentLimit: Int,
    seed: MockSeed, at now: Timestamp
  ) throws -> [UInt8] {
    let held = request.documents.compactMap { requested -> (requested: MockRequest.Document, data: MockDocumentData)? in
      guard let held = document(for: requested) else { return nil }
      var requested = requested
      requested.copy = held.copy
      return (requested, held.data)
    }
    guard let first = held.first else { throw MockError.noRequestedDocument(request.documents.map(\.docType)) }
    func builder(_ seed: MockSeed) -> DocumentBuilder {
      DocumentBuilder(
        wallet: self, seed: seed, transcript: transcript, authentication: authentication, readerKey: readerKey,
        now: now)
    }
    var plain: [CBORValue] = []
    var proofs: [CBORValue] = []
    for document in held.prefix(documentLimit) {
      let made = try builder(seed).document(document.data, for: document.requested, mutation: mutation)
      if let prover, prover.canProve(document.requested) {
        proofs.append(
          try prover.zkDocument(
            about: made, for: document.requested, transcript: transcript, authority: authority, mutation: mutation,
            seed: seed, at: now))
      } else {
        plain.append(made)
      }
    }
    var fields = MapDraft([("version", "1.0")])
    if proofs.isEmpty || !plain.isEmpty { fields["documents"] = .array(plain) }
    if !proofs.isEmpty { fields["zkDocuments"] = .array(proofs) }
    fields["status"] = 0
    var draft = ResponseDraft(
      fields: fields,
      request: whole ?? request,
      anotherDocument: { label, change in
        try builder(seed.child(label, context: transcript))
          .document(first.data, for: first.requested, mutation: change)
      })
    try mutation.apply(Stages.response, to: &draft)
    var bytes = try mutation.settings.style.encode(draft.fields.value)
    try mutation.apply(Stages.responseBytes, to: &bytes)
    return bytes
  }

  /// The document for a request, with the document's index among the wallet's documents of that type. If the wallet has
  /// too few documents, its last document is used again.
  func document(for requested: MockRequest.Document) -> (copy: Int, data: MockDocumentData)? {
    let copies = documents.filter { $0.docType == requested.docType }
    return copies.isEmpty
      ? nil : (min(requested.copy, copies.count - 1), copies[min(requested.copy, copies.count - 1)])
  }
}

/// A relying party's request: document types, and elements of namespaces.
package struct MockRequest: Sendable {
  package struct Document: Sendable {
    package var docType: String
    package var elements: [Element]
    /// The requested age thresholds: NN in "is at least NN years old".
    package var ageOver: [Int]
    /// The circuits that are offered for a proof; empty if no proof is requested.
    package var circuits: [KnownCircuit] = []
    /// True if only a proof is accepted.
    package var requiresProof = false
    /// Sets of elements that may replace a missing element (ISO/IEC 18013-5, second edition, 10.2.4).
    var substitutes: [(requested: Element, sets: [[Element]])] = []
    /// Sets of elements. The wallet returns one set (OpenID4VP 1.0, 6.4.1). Without sets, it returns all elements.
    var claimSets: [[Element]] = []
    /// The document's index among the wallet's documents of its type.
    package var copy = 0

    package typealias Element = (namespace: String, identifier: String)

    package init(docType: String, elements: [Element], ageOver: [Int] = []) {
      self.docType = docType
      self.elements = elements
      self.ageOver = ageOver
    }

    /// The elements of a full response: the first available choice for each requested element. Nil if an element has no
    /// available choice.
    func satisfied(by isThere: (Element) -> Bool) -> [Element]? {
      if !claimSets.isEmpty { return claimSets.first { $0.allSatisfy(isThere) } }
      var chosen: [Element] = []
      for element in elements {
        let sets = [[element]] + (substitutes.first { $0.requested == element }?.sets ?? [])
        guard let set = sets.first(where: { $0.allSatisfy(isThere) }) else { return nil }
        chosen += set.filter { member in !chosen.contains { $0 == member } }
      }
      return chosen
    }
  }

  /// The documents in the order of preference. An Apple in-app response has only one document: the first that the
  /// wallet has.
  package var documents: [Document]

  package init(documents: [Document]) { self.documents = documents }

  /// The request for which every variant's codes hold.
  package static let standard = MockRequest(documents: [.standardMDL])

  /// Like `standard`, but without the birth date, so that only `age_over_NN` can prove an age.
  package static let ageOnly = licence(Document.standardMDL.elements.filter { $0.identifier != "birth_date" })

  /// Like `standard`, but with the document's own expiry date.
  package static let withExpiryDate = licence(Document.standardMDL.elements + [(MockNamespace.mDL, "expiry_date")])

  private static func licence(_ elements: [Document.Element]) -> MockRequest {
    MockRequest(documents: [Document(docType: MockDocType.mDL, elements: elements, ageOver: [21])])
  }

  package static let photoID = MockRequest(documents: [.standardPhotoID])

  /// A request for proof that an mDL's holder is at least 18. Only a zero-knowledge proof is accepted.
  package static let proofOfAge = MockRequest(documents: [.proven(elements: [], ageOver: [18])])

  /// A request for two text elements of an mDL. Only a zero-knowledge proof is accepted.
  package static let proofOfNames = MockRequest(documents: [
    .proven(elements: ["issuing_country", "issuing_jurisdiction"], ageOver: [])
  ])

  /// An mDL or a photo ID, whichever the person has.
  package static let anyOf = MockRequest(documents: [.standardMDL, .standardPhotoID])
}

extension MockRequest.Document {
  package static let standardMDL = MockRequest.Document(
    docType: MockDocType.mDL,
    elements: [
      "given_name", "family_name", "birth_date", "portrait", "document_number", "issuing_country",
      "issuing_jurisdiction",
    ].map { (MockNamespace.mDL, $0) },
    ageOver: [21])

  /// Elements of an mDL. Only a proof is accepted, made with any circuit for this number of elements.
  package static func proven(elements: [String], ageOver: [Int]) -> MockRequest.Document {
    var document = MockRequest.Document(
      docType: MockDocType.mDL, elements: elements.map { (MockNamespace.mDL, $0) }, ageOver: ageOver)
    document.circuits = KnownCircuit.all.filter { $0.elements == elements.count + ageOver.count }
    document.requiresProof = true
    return document
  }

  package static let standardPhotoID = MockRequest.Document(
    docType: MockDocType.photoID,
    elements: [
      "given_name_unicode", "family_name_unicode", "birth_date", "portrait", "document_number", "issuing_country",
    ].map { (MockNamespace.photoID, $0) },
    ageOver: [21])
}

/// A wallet's response.
package struct MockWalletResponse: Sendable {
  /// The bytes that the wallet sends: the Apple envelope, or the DeviceResponse.
  package let bytes: [UInt8]
  package let deviceResponse: [UInt8]
  /// The verifier's transcript, even if the variant uses another transcript.
  package let sessionTranscript: [UInt8]
  package let variant: MockVariant
}

/// The device's proof that it holds the device key.
package enum MockDeviceAuthentication: Sendable {
  case signature
  /// A MAC by ECDH with the reader's ephemeral key, which is on the device key's curve.
  case mac(readerKey: PublicKey)

  package var isMAC: Bool { if case .mac = self { true } else { false } }
}
