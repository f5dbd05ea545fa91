import Base
import CBOR
import Cryptography
import Longfellow

/// A mock wallet. It holds documents of the mock authority and answers requests, rightly or in any of the named wrong
/// ways.
///
/// The same seed, data, request, session, variant and time give the same bytes.
package struct MockWallet: Sendable {
  package let authority: MockAuthority
  package let documents: [MockDocumentData]
  package let deviceCurve: Curve
  /// How the authority issued the documents.
  package let issuing: MockIssuing
  /// What makes zero-knowledge proofs; nil for a wallet that makes none.
  package let prover: MockProver?

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

  /// The answer to Apple's in-app request: an `APPLE-HPKE-v1` envelope. It holds the first requested document that the
  /// wallet has.
  package func answerApple(
    _ request: MockRequest, session: MockAppleSession, variant: MockVariant = .good, at now: Timestamp
  ) throws -> MockAnswer {
    let expected = AppleEnvelopeDraft(session)
    return try variant.applied(over: MockProtocol.appleInApp, seen: \.bytes) { mutation in
      var envelope = expected
      try mutation.session?(&envelope)
      let seed = try answerSeed(envelope.transcript)
      let response = try deviceResponse(
        request, transcript: envelope.transcript, authentication: .signature, mutation: mutation, documentLimit: 1,
        seed: seed, at: now)
      var plaintext = PlaintextDraft(response: response)
      try mutation.plaintext?(&plaintext)
      let message = plaintext.value.encoded()
      // Each message has a key of its own: two variants of one session must not share a GCM key and nonce.
      let ephemeral = try seed.child("hpke", context: message).key("ephemeral", on: .p256)
      var fields = try envelope.seal(message, ephemeralKey: ephemeral)
      try mutation.envelope?(&fields)
      var bytes = fields.value.encoded()
      try mutation.envelopeBytes?(&bytes)
      return MockAnswer(
        bytes: bytes, deviceResponse: response, sessionTranscript: expected.transcript, variant: variant)
    }
  }

  /// A DeviceResponse for this transcript, with every requested document that the wallet has.
  package func answer(
    _ request: MockRequest, transcript: [UInt8], authentication: MockDeviceAuthentication = .signature,
    variant: MockVariant = .good, at now: Timestamp
  ) throws -> MockAnswer {
    let response = try variant.applied(
      over: MockProtocol.anyTranscript, usesMAC: authentication.isMAC, hasProofs: proves(request), seen: \.self
    ) { mutation in
      try deviceResponse(
        request, transcript: transcript, authentication: authentication, mutation: mutation,
        documentLimit: request.documents.count, seed: answerSeed(transcript), at: now)
    }
    return MockAnswer(bytes: response, deviceResponse: response, sessionTranscript: transcript, variant: variant)
  }

  /// Whether the answer to this request has a proof.
  func proves(_ request: MockRequest) -> Bool {
    prover.map { prover in request.documents.contains { prover.canProve($0) } } ?? false
  }

  /// The seed of an answer. It differs for every session, since every session has its own transcript.
  func answerSeed(_ transcript: [UInt8]) throws -> MockSeed {
    try authority.seed.child("answer", context: transcript)
  }

  /// - Parameter whole: all that the session requests, if this response is only a part of the answer; nil if it is the
  ///   whole.
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
        authority: authority, held: documents, deviceCurve: deviceCurve, issuing: issuing, walletSeed: authority.seed,
        seed: seed, transcript: transcript, authentication: authentication, readerKey: readerKey, now: now)
    }
    var answered: [CBORValue] = []
    var proofs: [CBORValue] = []
    for document in held.prefix(documentLimit) {
      let made = try builder(seed).document(document.data, answering: document.requested, mutation: mutation)
      if let prover, prover.canProve(document.requested) {
        proofs.append(
          try prover.zkDocument(
            about: made, for: document.requested, transcript: transcript, authority: authority, mutation: mutation,
            seed: seed, at: now))
      } else {
        answered.append(made)
      }
    }
    var fields = MapDraft([("version", "1.0")])
    if proofs.isEmpty || !answered.isEmpty { fields["documents"] = .array(answered) }
    if !proofs.isEmpty { fields["zkDocuments"] = .array(proofs) }
    fields["status"] = 0
    var draft = ResponseDraft(
      fields: fields,
      request: whole ?? request,
      anotherDocument: { label, change in
        try builder(seed.child(label, context: transcript))
          .document(first.data, answering: first.requested, mutation: change)
      })
    try mutation.response?(&draft)
    var bytes = mutation.style.encode(draft.fields.value)
    try mutation.responseBytes?(&bytes)
    return bytes
  }

  /// The document that answers, and its place among those of its type. A wallet with too few of a type presents the last
  /// one again.
  func document(for requested: MockRequest.Document) -> (copy: Int, data: MockDocumentData)? {
    let copies = documents.filter { $0.docType == requested.docType }
    return copies.isEmpty
      ? nil : (min(requested.copy, copies.count - 1), copies[min(requested.copy, copies.count - 1)])
  }
}

/// What a relying party requests, as far as a wallet needs to know: document types, and elements of namespaces.
package struct MockRequest: Sendable {
  package struct Document: Sendable {
    package var docType: String
    package var elements: [Element]
    /// The NN of every question "is at least NN years old". The nearest attestation answers it.
    package var ageOver: [Int]
    /// The circuits that are offered for a proof in its place; empty where none is asked for.
    package var circuits: [KnownCircuit] = []
    /// Whether only a proof is welcome.
    package var requiresProof = false
    /// Sets of elements that may come in place of one that is lacking (ISO/IEC 18013-5, second edition, 10.2.4).
    var substitutes: [(requested: Element, sets: [[Element]])] = []
    /// Sets of which one is to be returned (OpenID4VP 1.0, 6.4.1); empty where all elements are.
    var claimSets: [[Element]] = []
    /// Which of the wallet's documents of the type answers, from 0.
    package var copy = 0

    package typealias Element = (namespace: String, identifier: String)

    package init(docType: String, elements: [Element], ageOver: [Int] = []) {
      self.docType = docType
      self.elements = elements
      self.ageOver = ageOver
    }

    /// The elements of an answer in full: of each set or element the first that is there; nil if one is lacking.
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

  /// The documents in the order of preference. An Apple in-app answer holds the first that the wallet has.
  package var documents: [Document]

  package init(documents: [Document]) { self.documents = documents }

  /// The request for which every variant's codes hold.
  package static let standard = MockRequest(documents: [.standardMDL])

  /// The same as `standard` without the birth date, so that only `age_over_NN` can prove an age.
  package static let ageOnly = MockRequest(documents: [
    Document(
      docType: MockDocType.mDL,
      elements: Document.standardMDL.elements.filter { $0.identifier != "birth_date" }, ageOver: [21])
  ])

  /// The same as `standard` with the document's own expiry date.
  package static let withExpiryDate = MockRequest(documents: [
    Document(
      docType: MockDocType.mDL, elements: Document.standardMDL.elements + [(MockNamespace.mDL, "expiry_date")],
      ageOver: [21])
  ])

  package static let photoID = MockRequest(documents: [.standardPhotoID])

  /// Whether the holder of an mDL is 18, shown by a proof only.
  package static let proofOfAge = MockRequest(documents: [.proven(elements: [], ageOver: [18])])

  /// Two texts of an mDL, shown by a proof only.
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

  /// Elements of an mDL, for which a proof by any circuit that fits is welcome, and nothing else.
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

/// A wallet's answer, and what it answers.
package struct MockAnswer: Sendable {
  /// The bytes that are sent: the Apple envelope, or the DeviceResponse.
  package let bytes: [UInt8]
  package let deviceResponse: [UInt8]
  /// The transcript that the verifier has to build for the session, even if the variant made the wallet use another.
  package let sessionTranscript: [UInt8]
  package let variant: MockVariant
}

/// How the device proves that it holds the device key.
package enum MockDeviceAuthentication: Sendable {
  case signature
  /// A MAC. Its key comes from ECDH with the reader's ephemeral key, which is on the device key's curve.
  case mac(readerKey: PublicKey)

  package var isMAC: Bool { if case .mac = self { true } else { false } }
}
