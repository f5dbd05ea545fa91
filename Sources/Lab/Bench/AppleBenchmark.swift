import Base
import CBOR
import COSE
import Cryptography
import Mdoc
import Mock
import PKIX
import Presentation
import Trust

/// Measures a full verification of an Apple in-app answer against the floor of its primitives, both in the same run.
struct AppleBenchmark {
  let name: String
  let portraitBytes: Int

  static let smallPortrait = 1_600

  static let all = [
    AppleBenchmark(name: "45 kB answer, 35 kB portrait", portraitBytes: 35_000),
    AppleBenchmark(name: "5 kB answer", portraitBytes: smallPortrait),
  ]

  struct Figures {
    let answerBytes: Int
    let known: Comparison
    let unknown: Comparison
    /// Microseconds that revocation checking adds to a known signer's verification if both lists are in memory.
    let keptRevocation: Double
    let stages: [(name: String, microseconds: Double)]
    /// Verifications per second of wall time, by one thread and by two.
    let perSecond: [(threads: Int, rate: Double)]
  }

  /// Medians in microseconds of processor time. `ratio` is the median of the ratios of the pairs.
  struct Comparison {
    let verification: Double
    let floor: Double
    let ratio: Double
  }

  struct Failed: Error {}

  func run(rounds: Int, perRound: Int) async throws -> Figures {
    let answer = try BenchmarkAnswer(portraitBytes: portraitBytes)
    let known = try answer.verifier(knowsSigners: true)
    let unknown = try answer.verifier(knowsSigners: false)
    let floor = try PrimitiveFloor(answer.floorWork(signatures: 2))
    let floorUnknown = try PrimitiveFloor(answer.floorWork(signatures: 3))
    guard answer.isAccepted(by: known), answer.isAccepted(by: unknown) else { throw Failed() }
    return Figures(
      answerBytes: answer.envelope.count,
      known: try compare(rounds, perRound, { answer.isAccepted(by: known) }, { floor.run() }),
      unknown: try compare(rounds, perRound, { answer.isAccepted(by: unknown) }, { floorUnknown.run() }),
      keptRevocation: try await RevocationBenchmark(portraitBytes: portraitBytes).added(rounds, perRound),
      stages: try answer.stages(repeating: perRound * 4),
      perSecond: try await [1, 2].asyncMap { threads in
        (threads, try await rate(answer, known, threads: threads, count: rounds * perRound))
      })
  }

  /// Runs both in turn, so that both meet the same slowdowns of the machine.
  private func compare(
    _ rounds: Int, _ perRound: Int, _ verification: () -> Bool, _ floor: () -> Bool
  ) throws -> Comparison {
    var verifications = Samples()
    var floors = Samples()
    var ratios = Samples()
    for _ in 0..<rounds {
      let a = try time(perRound, verification)
      let b = try time(perRound, floor)
      verifications.add(a)
      floors.add(b)
      ratios.add(a / b)
    }
    return Comparison(verification: verifications.median, floor: floors.median, ratio: ratios.median)
  }

  private func time(_ count: Int, _ body: () -> Bool) throws -> Double {
    let start = CPUClock.thread()
    for _ in 0..<count {
      guard body() else { throw Failed() }
    }
    return (CPUClock.thread() - start) / Double(count)
  }

  private func rate(_ answer: BenchmarkAnswer, _ apple: AppleInApp, threads: Int, count: Int) async throws -> Double {
    let start = CPUClock.wall()
    let isRight = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<threads {
        group.addTask { (0..<count).allSatisfy { _ in answer.isAccepted(by: apple) } }
      }
      return await group.reduce(true) { $0 && $1 }
    }
    guard isRight else { throw Failed() }
    return Double(threads * count) / (CPUClock.wall() - start) * 1e6
  }
}

extension Array {
  fileprivate func asyncMap<Result>(_ body: (Element) async throws -> Result) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await body(element)) }
    return results
  }
}

/// One mock answer, with everything that is needed to verify it.
struct BenchmarkAnswer: Sendable {
  let envelope: [UInt8]
  private let response: [UInt8]
  private let transcript: [UInt8]
  private let session: MockAppleSession
  private let key: PrivateKey
  private let anchors: [TrustAnchor]
  private let request: PresentationRequest
  static let now = Timestamp(secondsSince1970: 1_795_000_000)
  private let now = BenchmarkAnswer.now

  /// - Parameter issuing: how the authority issues the document, for example with a status list.
  init(
    portraitBytes: Int, authority: MockAuthority? = nil, issuing: MockIssuing = MockIssuing()
  ) throws {
    key = try PrivateKey(generatingOn: .p256)
    session = MockAppleSession(
      nonce: try Random.bytes(Limits.nonceBytes), merchantID: "merchant.example.shop", teamID: "ABCDE12345",
      recipientKey: key.publicKey)
    let authority = try authority ?? Self.authority()
    let documents = MockPerson.documents.map { $0.resizingPortrait(to: portraitBytes) }
    let wallet = MockWallet(authority: authority, documents: documents, issuing: issuing)
    let answer = try wallet.answerApple(.standard, session: session, at: now)
    envelope = answer.bytes
    response = answer.deviceResponse
    transcript = answer.sessionTranscript
    anchors = try [authority.anchor(at: now)].map {
      TrustAnchor(certificate: try Certificate(der: $0.certificate), docTypes: $0.docTypes)
    }
    request = PresentationRequest(
      documents: MockRequest.standard.documents.map { document in
        DocumentRequest(
          docType: document.docType,
          elements: document.elements.map { ElementRequest(ElementReference($0.namespace, $0.identifier)) },
          ageOver: document.ageOver)
      })
  }

  static func authority() throws -> MockAuthority { try MockAuthority(seed: Array("bench".utf8)) }

  func verifier(knowsSigners: Bool, revocation: RevocationPolicy = .off) throws -> AppleInApp {
    let store = try TrustStore(anchors: anchors, allowsTestCertificates: true)
    let trust: any IssuerTrust = knowsSigners ? store : Forgetful(validator: store.validator)
    return AppleInApp(verifier: MdocVerifier(trust: trust, revocation: revocation), keys: [key])
  }

  func isAccepted(by apple: AppleInApp) -> Bool {
    do {
      guard case .accepted = try authenticate(apple).conclude().outcome else { return false }
      return true
    } catch {
      return false
    }
  }

  /// Verifies the answer, up to the questions for publishers.
  func authenticate(_ apple: AppleInApp) throws -> Authentication {
    let challenge = try AppleChallenge(
      nonce: session.nonce, merchantID: session.merchantID, teamID: session.teamID)
    return apple.authenticate(envelope, answering: challenge, request: request, at: now)
  }

  /// The primitive work of this answer: the bytes of every item and of both signed messages.
  func floorWork(signatures: Int) throws -> PrimitiveFloor.Work {
    let parts = try Parts(response)
    var sizes = parts.items.map(\.count)
    sizes.append(parts.issuerAuth.toBeSigned(payload: parts.payload).count)
    sizes.append(transcript.count + 120)
    return PrimitiveFloor.Work(
      signatures: signatures, digestedBytes: sizes, ciphertextBytes: response.count)
  }

  /// Processor time of each part that can run alone, in microseconds.
  func stages(repeating count: Int) throws -> [(name: String, microseconds: Double)] {
    let parts = try Parts(response)
    let chain = parts.issuerAuth.headers.x5chain ?? []
    let store = try TrustStore(anchors: anchors, allowsTestCertificates: true)
    let signer = try Certificate(der: chain.first ?? [])
    let item = try CBORItem(parsing: envelope)
    guard let ciphertext = item[key: "data"]?.bytes, let encapsulated = item[key: "params"]?[key: "pkEm"]?.bytes,
      let signerKey = signer.publicKey
    else { throw AppleBenchmark.Failed() }
    func time(_ name: String, _ body: () throws -> Void) rethrows -> (String, Double) {
      let start = CPUClock.thread()
      for _ in 0..<count { try body() }
      return (name, (CPUClock.thread() - start) / Double(count))
    }
    return [
      try time("parse the envelope") { _ = try CBORItem(parsing: envelope) },
      try time("open it (HPKE)") {
        _ = try HPKE.p256SHA256AES128GCM.open(
          ciphertext, encapsulatedKey: encapsulated, recipient: key, info: transcript)
      },
      try time("parse the response") { _ = try DeviceResponse(parsing: response) },
      time("look the signer up") {
        _ = store.evaluate(chain: chain, docType: DocType.mDL, at: now, skew: Limits.clockSkew)
      },
      time("issuer signature") { _ = parts.issuerAuth.verify(payload: parts.payload, key: signerKey) },
      time("hash the elements") { for item in parts.items { _ = HashAlgorithm.sha256.matches([], digestOf: item) } },
      try time("import the device key") { _ = try PublicKey(curve: .p256, encoded: signerKey.encoded) },
    ]
  }

  /// A trust store that remembers no signer.
  private struct Forgetful: IssuerTrust {
    let validator: PathValidator
    let snapshot = ""

    func evaluate(chain: [ArraySlice<UInt8>], docType: String, at now: Timestamp, skew: Int64) -> PathEvaluation {
      validator.evaluate(chain: chain, docType: docType, at: now, skew: skew)
    }
  }

  private struct Parts {
    let items: [ArraySlice<UInt8>]
    let issuerAuth: COSESign1
    let payload: ArraySlice<UInt8>

    init(_ response: [UInt8]) throws {
      let root = try CBORItem(parsing: response)
      guard let document = root[key: "documents"]?.elements?.first(where: { _ in true }),
        let issuerSigned = document[key: "issuerSigned"], let namespaces = issuerSigned[key: "nameSpaces"]?.entries,
        let issuerAuth = issuerSigned[key: "issuerAuth"]
      else { throw AppleBenchmark.Failed() }
      items = namespaces.flatMap { entry in entry.value.elements.map { $0.map(\.encoded) } ?? [] }
      self.issuerAuth = try COSESign1(parsing: issuerAuth)
      payload = self.issuerAuth.payload?.bytes ?? []
    }
  }
}
