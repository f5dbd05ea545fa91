import Base
import Cryptography
import Longfellow
import Mdoc
import PKIX
import Presentation
import Sessions
import Trust

/// Judges vectors with this project's verifier.
package struct OwnVerifier: Sendable {
  private let anchors: SuiteAnchors
  private let circuits: CircuitLibrary?
  private let stores = Locked<[String: TrustStore]>([:])

  /// - Parameter circuits: those by which proofs are verified; nil if none are.
  package init(anchors: SuiteAnchors, circuits: CircuitLibrary? = nil) {
    self.anchors = anchors
    self.circuits = circuits
  }

  /// - Parameter input: replaces the vector's input, for property tests over changed bytes.
  package func judge(_ vector: TestVector, input: [UInt8]? = nil) async -> Judgement {
    let bytes = input ?? vector.input.bytes
    if case .list(let list) = vector.session {
      let signers = anchors.signers(named: vector.trustAnchors, of: vector)
      return ListEvaluation(bytes, of: list, signers: signers, at: vector.validationTime).judgement
    }
    do {
      guard let verdict = try await verdict(on: vector, input: bytes) else { return .emptyStore }
      return Judgement(verdict, session: vector.session)
    } catch let error as VectorFault {
      return .invalid(error.description)
    } catch {
      return .invalid("it can't be set up")
    }
  }

  /// The checks behind a judgement: those of the answer, then those of each document.
  package func checks(of vector: TestVector) async -> [(title: String, checks: [Check])] {
    if case .list(let list) = vector.session {
      let signers = anchors.signers(named: vector.trustAnchors, of: vector)
      let evaluation = ListEvaluation(vector.input.bytes, of: list, signers: signers, at: vector.validationTime)
      return [("Checks of the list", evaluation.checks)]
    }
    guard let report = try? await verdict(on: vector, input: vector.input.bytes)?.report else { return [] }
    return [("Checks of the answer", report.checks)]
      + report.documents.enumerated().map { ("Checks of document \($0 + 1), \($1.docType)", $1.checks) }
  }

  /// The verdict on an answer; nil for lists, and if no anchor is trusted.
  func verdict(on vector: TestVector, input: [UInt8]) async throws -> Verdict? {
    guard let authentication = try authenticate(vector, input) else { return nil }
    let evidence = await evidence(for: authentication.questions, vector)
    return authentication.conclude(with: evidence)
  }

  /// Revocation evidence from the vector's publications only, by the rules of live mode.
  private func evidence(for questions: [RevocationQuestion], _ vector: TestVector) async -> RevocationEvidence {
    guard !questions.isEmpty else { return RevocationEvidence() }
    let checker = RevocationChecker(fetcher: StaticListFetcher(vector.publications))
    return await checker.evidence(for: questions, at: vector.validationTime)
  }

  func authenticate(_ vector: TestVector, _ input: [UInt8]) throws -> Authentication? {
    guard let store = store(of: vector) else { return nil }
    var verifier = MdocVerifier(
      trust: store, clockSkew: vector.policy.clockSkew, isStrict: vector.policy.isStrict,
      revocation: vector.policy.revocation)
    verifier.proofs = circuits.map { ProofPolicy(circuits: $0) }
    switch vector.session {
    case .appleInApp(let session):
      let key = try Self.key(session.recipientKey, "/session/recipient_key")
      let challenge = try AppleChallenge(
        nonce: session.nonce, merchantID: session.merchantID, teamID: session.teamID)
      return AppleInApp(verifier: verifier, keys: [key]).authenticate(
        input, answering: challenge, request: try Self.request(vector, for: .inApp), at: vector.validationTime)
    case .proximity(let session):
      return Proximity(verifier: verifier).authenticate(
        input, transcript: try SessionTranscript(encoded: session.transcript),
        readerKey: try session.readerKey.map { try Self.key($0, "/session/reader_key") },
        request: try Self.request(vector, for: .web), at: vector.validationTime)
    case .annexC(let session):
      guard
        let challenge = try? AnnexCChallenge(
          privateScalar: session.recipientKey, encryptionInfo: session.encryptionInfo, origin: session.origin)
      else { throw VectorFault(pointer: "/session/recipient_key", problem: "is no P-256 scalar") }
      return AnnexC(verifier: verifier).authenticate(
        input, answering: challenge, request: try Self.request(vector, for: .web), at: vector.validationTime)
    case .openID4VP(let session): return try authenticate(vector, session, input, verifier)
    case .list: return nil
    }
  }

  private func authenticate(
    _ vector: TestVector, _ session: VectorSession.OpenID4VP, _ input: [UInt8], _ verifier: MdocVerifier
  ) throws -> Authentication {
    let now = vector.validationTime
    let request = try Self.request(
      vector, for: session.channel.isRedirect ? .redirect : .web, over: [session.protocolName])
    guard let parameters = try? JSON(parsing: input), parameters.object != nil else {
      return verifier.refuse([Check(.envelopeMalformed, .failed)], at: now)
    }
    let key = try session.encryption.map { try Self.key($0.key, "/session/encryption_key") }
    let challenge =
      switch session.channel {
      case .digitalCredentialsAPI(let origin):
        OpenID4VPChallenge(recipient: .origin(origin), nonce: session.nonce, state: nil, key: key)
      case .redirect(let clientID, let responseURI, let state):
        OpenID4VPChallenge(
          recipient: .client(id: clientID, responseURI: responseURI), nonce: session.nonce, state: state, key: key)
      }
    return session.protocolName == VectorSession.OpenID4VP.annexB
      ? AnnexB(verifier: verifier).authenticate(parameters, answering: challenge, request: request, at: now)
      : OpenID4VP(verifier: verifier).authenticate(parameters, answering: challenge, request: request, at: now)
  }

  /// One store for all vectors with the same anchors. It remembers signers, as a server's store does.
  private func store(of vector: TestVector) -> TrustStore? {
    if let made = vector.anchorList {
      let signers = anchors.signers(named: made.signers, of: vector)
      let list = ListEvaluation(made.input.bytes, of: made.list, signers: signers, at: vector.validationTime)
      return anchors.store(of: vector, and: list.anchors)
    }
    let key =
      vector.trustAnchors.joined(separator: "/") + (vector.policy.trustsTestCertificates ? "" : " live")
      + (vector.policy.allowsJWTStatusLists ? " jwt" : "")
    if let store = stores.withLock({ $0[key] }) { return store }
    guard let store = anchors.store(of: vector) else { return nil }
    stores.withLock { $0[key] = store }
    return store
  }

  private static func key(_ scalar: [UInt8], _ pointer: String) throws -> PrivateKey {
    guard let key = try? PrivateKey(curve: .p256, scalar: scalar) else {
      throw VectorFault(pointer: pointer, problem: "is no P-256 scalar")
    }
    return key
  }

  private static func request(
    _ vector: TestVector, for family: ProtocolFamily, over protocols: [String] = []
  ) throws -> PresentationRequest {
    do throws(ServiceError) {
      // A vector offers every circuit, whichever of them are at hand. What revocation has to be known is judged below.
      let proofs = PresentationRequestDecoder.ProofRules(circuits: KnownCircuit.all)
      return try PresentationRequestDecoder(for: family, protocols: protocols, proofs: proofs).decode(vector.request)
    } catch {
      throw VectorFault(pointer: "/request" + (error.pointers.first?.pointer ?? ""), problem: error.detail)
    }
  }
}

extension StaticListFetcher {
  fileprivate init(_ publications: [VectorPublication]) {
    let answers = publications.map { publication -> (String, Result<FetchedList, FetchError>) in
      switch publication.answer {
      case .list(let input, let mediaType):
        (publication.address, .success(FetchedList(bytes: input.bytes, mediaType: mediaType)))
      case .fault(.unavailable): (publication.address, .failure(.unavailable("the publisher is down")))
      case .fault(.tooLarge): (publication.address, .failure(.tooLarge))
      }
    }
    self.init(Dictionary(answers) { first, _ in first })
  }
}

/// The result of our readers for a list of anchors.
struct ListEvaluation {
  let checks: [Check]
  let isAccepted: Bool
  let anchors: [TrustAnchor]
  private let statusListSigners: [Certificate]

  /// - Parameter signers: the anchors under which the list's signer must be.
  init(_ bytes: [UInt8], of list: VectorList, signers: SignerPath.Anchors, at now: Timestamp) {
    switch list.format {
    case .vical:
      let evaluation = VICALVerifier(source: VICALSource(signers: signers, tier: .test))
        .evaluate(bytes, at: now, after: list.lastVICAL)
      checks = evaluation.checks
      isAccepted = evaluation.isAccepted
      anchors = evaluation.anchors
      statusListSigners = []
    case .trustedEntities:
      let source = TrustedEntityListSource(
        signers: signers, issuance: Dictionary(list.issuance.map { ($0.type, $0.docTypes) }) { first, _ in first },
        revocation: Set(list.revocation), tier: .test)
      let evaluation = TrustedEntityListVerifier(source: source).evaluate(
        bytes, at: now, after: list.lastTrustedEntities)
      checks = evaluation.checks
      isAccepted = evaluation.isAccepted
      anchors = evaluation.anchors
      statusListSigners = evaluation.statusListSigners.map(\.certificate)
    }
  }

  var judgement: Judgement {
    func codes(_ outcome: Check.Outcome) -> [String] {
      checks.filter { $0.outcome == outcome }.map(\.code.rawValue)
    }
    return Judgement(
      isAccepted: isAccepted, codes: codes(.failed), warnings: codes(.warning), stage: stage,
      resultHash: isAccepted ? HashAlgorithm.sha256.hash(result) : nil)
  }

  /// How far the list got. The check of the signer runs once the signature's envelope was read.
  private var stage: VectorStage {
    if isAccepted { return .accepted }
    let signer = checks.first { $0.code == .listSignerUntrusted }?.outcome ?? .notRun
    return signer == .notRun ? .parse : .authenticate
  }

  /// The anchors and status list signers that the list would make trusted, and the document types of each anchor.
  private var result: [UInt8] {
    let trusted = anchors.flatMap { anchor -> [UInt8] in
      anchor.certificate.sha256 + Array("\(anchor.kind) \((anchor.docTypes ?? []).joined(separator: " "))\n".utf8)
    }
    return trusted + statusListSigners.flatMap(\.sha256)
  }
}

extension VectorList {
  fileprivate var lastVICAL: AcceptedListMark? {
    guard let last, let date = Timestamp(rfc3339: last.date) else { return nil }
    return .init(issued: date, number: last.number.flatMap { UInt64(exactly: $0) }, digest: last.digest ?? [])
  }

  fileprivate var lastTrustedEntities: AcceptedListMark? {
    guard let last, let issued = Timestamp(rfc3339: last.date) else { return nil }
    return .init(issued: issued, number: UInt64(clamping: last.number ?? 0), digest: [])
  }
}
