import Base
import CBOR
import Cryptography
import Glibc
import Longfellow
import Mock
import PKIX
import Vectors

/// Makes the corpus from the mock wallet's declared variants. The same seed gives the same bytes.
package struct CorpusMaker: Sendable {
  /// The seed of the committed corpus. All of it is made at `time`.
  package static let seed = Array("mdoc vectors 1".utf8)
  package static let time = PackedCorpus.time

  let authority: MockAuthority
  let wallet: MockWallet
  let anchors: [MockAnchor]
  private let recipientKey: PrivateKey
  private let readerKey: PrivateKey
  /// The device's ephemeral keys of the session in person, and of another one.
  private let engagementKey, otherEngagementKey: PublicKey
  /// The key that wallets encrypt their answers over the web to.
  let webKey: PrivateKey
  let now = CorpusMaker.time
  var makesProofs: Bool { wallet.prover != nil }

  /// - Parameter circuits: those that proofs are made by; without them there are no cases with proofs.
  package init(seed: [UInt8] = CorpusMaker.seed, circuits: CircuitLibrary? = nil) throws {
    authority = try MockAuthority(seed: seed)
    wallet = MockWallet(
      authority: authority, documents: MockPerson.documents.map(\.withoutPicture),
      prover: circuits.map(MockProver.init(circuits:)))
    anchors = try authority.anchors(at: now)
    recipientKey = try Self.key("recipient", seed)
    readerKey = try Self.key("reader", seed)
    engagementKey = try Self.key("engagement", seed).publicKey
    otherEngagementKey = try Self.key("other engagement", seed).publicKey
    webKey = try Self.key("web", seed)
  }

  /// The files of the corpus with their paths: vectors, anchors with their settings, and the schema.
  package func files() throws -> [(path: String, content: [UInt8])] {
    var files: [(path: String, content: [UInt8])] = [("schema.json", SchemaFile.content)]
    files += try anchorFiles()
    for made in ListCase.all { files.append(("lists/\(made.id).json", try vector(made).fileContent)) }
    for made in Corpus.cases { files.append(("\(made.group)/\(made.id).json", try vector(made).fileContent)) }
    if makesProofs { files += try proofFiles() }
    return files.sorted { $0.path < $1.path }
  }

  func vector(_ made: CorpusCase) throws -> TestVector {
    let answer = try answer(made)
    var vector = TestVector()
    vector.id = made.id
    vector.description = made.summary
    vector.reference = made.clause
    vector.cases = made.cases
    vector.flags = made.flags
    vector.importance = made.importance
    vector.features = made.allFeatures
    vector.validationTime = now + made.judgedAfter
    vector.session = try session(made)
    vector.request = request(made)
    vector.trustAnchors = try made.anchors ?? anchorsNamed(in: answer)
    vector.policy = made.policy
    vector.input = made.input ?? VectorInput(describing: answer.bytes)
    vector.expectation = made.expectation
    vector.publications = try made.publish?(authority, now).map(VectorPublication.init) ?? []
    vector.anchorList = try made.anchorList.map { list in
      VectorAnchorList(
        list: try self.list(list), signers: [list.format.signer],
        input: VectorInput(describing: try list.list.published(by: authority, now: now)))
    }
    return vector
  }

  // MARK: Answers

  private func answer(_ made: CorpusCase) throws -> MadeAnswer {
    var request = made.request
    if made.answersFirstOnly { request.documents = Array(request.documents.prefix(1)) }
    switch made.form {
    case .appleInApp:
      return MadeAnswer(try wallet.answerApple(request, session: appleSession, variant: made.variant, at: now))
    case .proximity, .proximityMAC:
      let isMAC = made.form == .proximityMAC
      return MadeAnswer(
        try wallet.answer(
          request, transcript: transcript, authentication: isMAC ? .mac(readerKey: readerKey.publicKey) : .signature,
          variant: made.variant, at: now))
    case .annexC, .openID4VP: return try webAnswer(made, agreed: request)
    }
  }

  private var appleSession: MockAppleSession {
    MockAppleSession(
      nonce: Array(0..<32), merchantID: "merchant.example.shop", teamID: "ABCDE12345",
      recipientKey: recipientKey.publicKey)
  }

  private var transcript: [UInt8] { transcript(engagedBy: engagementKey) }
  private var otherTranscript: [UInt8] { transcript(engagedBy: otherEngagementKey) }

  /// - Parameter key: the device's ephemeral key.
  private func transcript(engagedBy key: PublicKey) -> [UInt8] {
    MockSessionTranscript.qr(
      deviceEngagement: MockSessionTranscript.deviceEngagement(with: key),
      readerKey: MockSessionTranscript.readerKeyBytes(of: readerKey.publicKey))
  }

  // MARK: What the relying party knows

  private func session(_ made: CorpusCase) throws -> VectorSession {
    switch made.form {
    case .appleInApp:
      var session = VectorSession.AppleInApp()
      session.nonce = appleSession.nonce
      session.merchantID = appleSession.merchantID
      session.teamID = appleSession.teamID
      session.recipientKey = try recipientKey.scalar().exposed()
      return .appleInApp(session)
    case .proximity, .proximityMAC:
      var session = VectorSession.Proximity()
      session.transcript = made.isOfAnotherSession ? otherTranscript : transcript
      if made.form == .proximityMAC { session.readerKey = try readerKey.scalar().exposed() }
      return .proximity(session)
    case .annexC: return .annexC(try annexC())
    case .openID4VP(let name, let isEncrypted, _): return .openID4VP(try openID4VP(name, isEncrypted: isEncrypted))
    }
  }

  private func request(_ made: CorpusCase) -> JSON {
    let documents = made.request.documents.map { document -> JSON in
      .members([
        "doc_type": .string(document.docType),
        "elements": .array(
          document.elements.map { ["namespace": .string($0.namespace), "identifier": .string($0.identifier)] }),
        "age_over": .array(document.ageOver.map { .integer(Int64($0)) }),
        "minimum_age": made.minimumAge.map { .integer(Int64($0)) },
        "accept_expired": JSON.when(made.acceptsExpired, true),
        "zk": JSON.when(
          made.asksForProof && !document.circuits.isEmpty, .string(document.requiresProof ? "required" : "allowed")),
      ])
    }
    return .members([
      "documents": .array(documents), "all_documents": JSON.when(made.requiresAllDocuments, true),
    ])
  }

  /// The good root, and each other anchor whose subject the answer names as an issuer. A verifier that is given few
  /// anchors is easier to set up.
  private func anchorsNamed(in answer: MadeAnswer) throws -> [String] {
    try anchors.filter { anchor in
      let name = try Certificate(der: anchor.certificate).subject.der
      return anchor.name == "iaca" || answer.deviceResponses.contains { Self.contains($0, name) }
    }.map(\.name)
  }

  private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
    // `memchr` finds the first byte: this looks through thousands of answers, and must be fast without optimisation
    // too.
    bytes.withUnsafeBytes { bytes in
      var rest = bytes[...]
      while rest.count >= part.count, let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress,
        let found = memchr(start, Int32(part[0]), rest.count - part.count + 1)
      {
        if memcmp(found, part, part.count) == 0 { return true }
        rest = rest.dropFirst(UnsafeRawPointer(found) - start + 1)
      }
      return false
    }
  }

  private static func key(_ purpose: String, _ seed: [UInt8]) throws -> PrivateKey {
    try PrivateKey(curve: .p256, scalar: HashAlgorithm.sha256.hash(seed + Array("/\(purpose)".utf8)))
  }
}

/// An answer as the wallet sends it, and the DeviceResponses in it.
struct MadeAnswer {
  let bytes: [UInt8]
  let deviceResponses: [[UInt8]]

  init(bytes: [UInt8], deviceResponses: [[UInt8]]) {
    self.bytes = bytes
    self.deviceResponses = deviceResponses
  }

  init(_ answer: MockWalletResponse) { self.init(bytes: answer.bytes, deviceResponses: [answer.deviceResponse]) }
}

extension MockDocumentData {
  /// The document with a portrait that is a small grey square: no case depends on the picture.
  fileprivate var withoutPicture: MockDocumentData {
    var copy = self
    for index in copy.namespaces.indices where copy.namespaces[index]["portrait"] != nil {
      copy.namespaces[index]["portrait"] = .bytes(Base64.decode(Self.greySquare) ?? [])
    }
    return copy
  }

  /// A baseline JPEG of 8 × 8 pixels, as small as its tables may be.
  private static let greySquare =
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEB"
    + "AQEBAQEBAQEBAQEBAQH/wAALCAAIAAgBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAI"
    + "AQEAAD8AP//Z"
}

/// Writes the corpus into a folder, and removes vectors there that are no longer declared.
package struct Regeneration: Sendable {
  /// Paths relative to the folder.
  package let written: [String]
  package let removed: [String]
  package let bytes: Int

  package init(of maker: CorpusMaker, into path: String) throws {
    let folder = SuiteFolder(path)
    let files = try maker.files()
    for file in files { try folder.write(file.content, to: file.path) }
    let declared = Set(files.map(\.path))
    // Proofs that cannot be made stay as they are.
    let kept = maker.makesProofs ? "" : "\(Corpus.proofGroup)/"
    let stale = try folder.vectorFiles().filter { !declared.contains($0) && (kept.isEmpty || !$0.hasPrefix(kept)) }
    for file in stale { try folder.remove(file) }
    written = files.map(\.path)
    removed = stale
    bytes = files.reduce(0) { $0 + $1.content.count }
  }
}

extension CorpusMaker {
  /// The good authority's root without settings: it counts for every document type, and as no test anchor.
  package static let unscopedAnchor = "iaca-unscoped"
  /// The good root, with settings that allow lists over plain HTTP.
  static let plainHTTPAnchor = "iaca-allow-http"
  /// The good root, with settings that allow revocation lists over HTTPS only.
  static let httpsAnchor = "iaca-crl-https"
  /// The signer of right documents, as an anchor itself.
  static let pinnedSigner = "document-signer"

  /// Signers that lack an extension, as anchors themselves, with settings that name no usage.
  static let signersWithoutUsages: [(variant: String, anchor: String, oid: String, code: Code, words: String)] = [
    (
      "signer-eku-missing", "document-signer-without-eku", "2.5.29.37", .certificateExtendedKeyUsage,
      "extended key usage"
    ),
    ("signer-key-usage-missing", "document-signer-without-key-usage", "2.5.29.15", .certificateKeyUsage, "key usage"),
  ]

  /// The files of the `anchors` folder: certificates, and settings if an anchor needs them.
  func anchorFiles() throws -> [(path: String, content: [UInt8])] {
    let good = try authority.anchor(at: now)
    let signer = MockAnchor(
      name: Self.pinnedSigner, certificate: try authority.documentSigner(at: now), docTypes: good.docTypes,
      extendedKeyUsages: good.extendedKeyUsages, maxPathLength: 0)
    let lacking = try Self.signersWithoutUsages.flatMap { lacking in
      let settings: JSON = [
        "doc_types": .strings(good.docTypes), "kind": "document_signer", "max_path_length": 0, "tier": "test",
      ]
      let certificate = try authority.documentSigner(at: now, without: lacking.oid)
      return [pem(lacking.anchor, certificate), json(lacking.anchor, settings)]
    }
    return lacking + anchors.flatMap { [pem($0.name, $0.certificate), json($0.name, settings($0))] } + [
      pem(Self.unscopedAnchor, good.certificate),
      pem(Self.plainHTTPAnchor, good.certificate),
      json(Self.plainHTTPAnchor, settings(good, .init("allow_http", true))),
      pem(Self.httpsAnchor, good.certificate),
      json(Self.httpsAnchor, settings(good, .init("crl_addresses", "https"))),
      pem(signer.name, signer.certificate),
      json(signer.name, settings(signer, .init("kind", "document_signer"))),
      pem(VectorList.Format.vical.signer, try MockList.Kind.vical.signerAnchor(of: authority, at: now)),
      pem(
        VectorList.Format.trustedEntities.signer, try MockList.Kind.trustedEntities.signerAnchor(of: authority, at: now)
      ),
    ]
  }

  private func settings(_ anchor: MockAnchor, _ more: JSON.Member...) -> JSON {
    .object(
      [
        .init("doc_types", .strings(anchor.docTypes)), .init("ekus", .strings(anchor.extendedKeyUsages)),
        .init("max_path_length", .integer(Int64(anchor.maxPathLength))), .init("tier", "test"),
      ] + more)
  }

  private func pem(_ name: String, _ certificate: [UInt8]) -> (path: String, content: [UInt8]) {
    ("\(SuiteFolder.anchors)/\(name).pem", Array(PEM.encode(certificate: certificate).utf8))
  }

  private func json(_ name: String, _ settings: JSON) -> (path: String, content: [UInt8]) {
    ("\(SuiteFolder.anchors)/\(name).json", settings.serialized(pretty: true) + [UInt8(ascii: "\n")])
  }
}
