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

  /// - Parameter circuits: the circuits for verifying proofs; nil if no proofs are verified.
  package init(anchors: SuiteAnchors, circuits: CircuitLibrary? = nil) {
    self.anchors = anchors
    self.circuits = circuits
  }

  /// - Parameter input: replaces the vector's input, for property tests over changed bytes.
  package func judge(_ vector: TestVector, input: [UInt8]? = nil) async -> Judgement {
    let bytes = input ?? vector.input.bytes
    if let evaluation = evaluation(of: vector, bytes) { return evaluation.judgement }
    do {
      guard let verdict = try await verdict(on: vector, input: bytes) else { return .emptyStore }
      return Judgement(verdict, session: vector.session)
    } catch let error as VectorError {
      return .invalid(error.description)
    } catch {
      return .invalid("the case's inputs cannot be prepared")
    }
  }

  /// The checks behind a judgement: the response's, then each document's.
  package func checks(of vector: TestVector) async -> [(title: String, checks: [Check])] {
    let bytes = vector.input.bytes
    if let evaluation = evaluation(of: vector, bytes) { return [("Checks of the list", evaluation.checks)] }
    guard let report = try? await verdict(on: vector, input: bytes)?.report else { return [] }
    return [("Checks of the response", report.checks)]
      + report.documents.enumerated().map { ("Checks of document \($0 + 1), \($1.docType)", $1.checks) }
  }

  /// The evaluation of a list; nil if the vector has a response.
  private func evaluation(of vector: TestVector, _ bytes: [UInt8]) -> ListEvaluation? {
    guard case .list(let list) = vector.session else { return nil }
    let signers = anchors.signers(named: vector.trustAnchors, of: vector)
    return ListEvaluation(bytes, of: list, signers: signers, at: vector.validationTime)
  }

  /// The verdict on a response; nil for lists, and if no anchor is trusted. Revocation evidence comes only from the
  /// vector's publications, by the rules of live mode.
  func verdict(on vector: TestVector, input: [UInt8]) async throws -> Verdict? {
    guard let authentication = try authenticate(vector, input) else { return nil }
    let checker = RevocationChecker(fetcher: StaticListFetcher(vector.publications))
    let evidence = await checker.evidence(for: authentication.questions, at: vector.validationTime)
    return authentication.conclude(with: evidence)
  }

  func authenticate(_ vector: TestVector, _ input: [UInt8]) throws -> Authentication? {
    guard let store = store(of: vector) else { return nil }
    var verifier = MdocVerifier(
      trust: store, clockSkew: vector.policy.clockSkew, isStrict: vector.policy.isStrict,
      revocation: vector.policy.revocation)
    verifier.proofs = circuits.map { ProofPolicy(circuits: $0) }
    let now = vector.validationTime
    switch vector.session {
    case .appleInApp(let session):
      let key = try Self.key(session.recipientKey, "/session/recipient_key")
      let challenge = try AppleChallenge(
        nonce: session.nonce, merchantID: session.merchantID, teamID: session.teamID)
      return AppleInApp(verifier: verifier, keys: [key]).authenticate(
        input, answering: challenge, request: try Self.request(vector, for: .inApp), at: now)
    case .proximity(let session):
      return Proximity(verifier: verifier).authenticate(
        input, transcript: try SessionTranscript(encoded: session.transcript),
        readerKey: try session.readerKey.map { try Self.key($0, "/session/reader_key") },
        request: try Self.request(vector, for: .web), at: now)
    case .annexC(let session):
      let challenge = try? AnnexCChallenge(
        privateScalar: session.recipientKey, encryptionInfo: session.encryptionInfo, origin: session.origin)
      guard let challenge else {
        throw VectorError(pointer: "/session/recipient_key", problem: "must be a P-256 scalar")
      }
      return AnnexC(verifier: verifier).authenticate(
        input, answering: challenge, request: try Self.request(vector, for: .web), at: now)
    case .openID4VP(let session):
      let family = session.isRedirect ? ProtocolFamily.redirect : .web
      let request = try Self.request(vector, for: family, over: [session.protocolName])
      guard let parameters = try? JSON(parsing: input), parameters.object != nil else {
        return verifier.refuse([Check(.envelopeMalformed, .failed)], at: now)
      }
      let challenge = OpenID4VPChallenge(
        recipient: session.isRedirect
          ? .client(id: session.clientID, responseURI: session.responseURI) : .origin(session.origin),
        nonce: session.nonce, state: session.state,
        key: try session.encryptionKey.map { try Self.key($0, "/session/encryption_key") })
      return session.protocolName == VectorSession.OpenID4VP.annexB
        ? AnnexB(verifier: verifier).authenticate(parameters, answering: challenge, request: request, at: now)
        : OpenID4VP(verifier: verifier).authenticate(parameters, answering: challenge, request: request, at: now)
    case .list: return nil
    }
  }

  /// One store for all vectors with the same anchors. Like a server's store, it remembers signers.
  private func store(of vector: TestVector) -> TrustStore? {
    if let made = vector.anchorList {
      let signers = anchors.signers(named: made.signers, of: vector)
      let list = ListEvaluation(made.input.bytes, of: made.list, signers: signers, at: vector.validationTime)
      return anchors.store(of: vector, and: list.anchors)
    }
    let (policy, names) = (vector.policy, vector.trustAnchors.joined(separator: "/"))
    let key = "\(names) \(policy.trustsTestCertificates) \(policy.allowsJWTStatusLists)"
    if let store = stores.withLock({ $0[key] }) { return store }
    guard let store = anchors.store(of: vector) else { return nil }
    stores.withLock { $0[key] = store }
    return store
  }

  private static func key(_ scalar: [UInt8], _ pointer: String) throws -> PrivateKey {
    guard let key = try? PrivateKey(curve: .p256, scalar: scalar) else {
      throw VectorError(pointer: pointer, problem: "must be a P-256 scalar")
    }
    return key
  }

  private static func request(
    _ vector: TestVector, for family: ProtocolFamily, over protocols: [String] = []
  ) throws -> PresentationRequest {
    do throws(ServiceError) {
      // A vector offers every circuit, even a circuit that is not available here.
      return try PresentationRequestDecoder(for: family, protocols: protocols, circuits: KnownCircuit.all)
        .decode(vector.request)
    } catch {
      throw VectorError(pointer: "/request" + (error.pointers.first?.pointer ?? ""), problem: error.detail)
    }
  }
}

extension StaticListFetcher {
  fileprivate init(_ publications: [VectorPublication]) {
    let results = publications.map { publication -> (String, Result<FetchedList, FetchError>) in
      switch publication.failure {
      case nil:
        let list = FetchedList(bytes: publication.list.bytes, mediaType: publication.mediaType ?? "")
        return (publication.address, .success(list))
      case .unavailable: return (publication.address, .failure(.unavailable("the publisher is down")))
      case .tooLarge: return (publication.address, .failure(.tooLarge))
      }
    }
    self.init(Dictionary(results) { first, _ in first })
  }
}

/// The result of our verifiers for a list of anchors.
struct ListEvaluation {
  let checks: [Check]
  let isAccepted: Bool
  let anchors: [TrustAnchor]
  private let statusListSigners: [Certificate]

  /// - Parameter signers: the anchors for validating the list's signer.
  init(_ bytes: [UInt8], of list: VectorList, signers: SignerPath.Anchors, at now: Timestamp) {
    switch list.format {
    case .vical:
      let found = VICALVerifier(source: TrustListSource(signers: signers, tier: .test))
        .evaluate(bytes, at: now, after: list.mark)
      (checks, isAccepted, anchors, statusListSigners) = (found.checks, found.isAccepted, found.anchors, [])
    case .trustedEntities:
      let source = TrustedEntityListSource(
        TrustListSource(signers: signers, tier: .test),
        issuance: Dictionary(list.issuance.map { ($0.type, $0.docTypes) }) { first, _ in first },
        revocation: Set(list.revocation))
      let found = TrustedEntityListVerifier(source: source).evaluate(bytes, at: now, after: list.mark)
      (checks, isAccepted, anchors) = (found.checks, found.isAccepted, found.anchors)
      statusListSigners = found.statusListSigners.map(\.certificate)
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

  /// The signer's check runs after the signature's envelope is read.
  private var stage: VectorStage {
    if isAccepted { return .accepted }
    let signer = checks.first { $0.code == .listSignerUntrusted }?.outcome ?? .notRun
    return signer == .notRun ? .parse : .authenticate
  }

  /// The trusted content of the list: anchors with their document types, and status list signers.
  private var result: [UInt8] {
    let trusted = anchors.flatMap { anchor -> [UInt8] in
      anchor.certificate.sha256 + Array("\(anchor.kind) \((anchor.docTypes ?? []).joined(separator: " "))\n".utf8)
    }
    return trusted + statusListSigners.flatMap(\.sha256)
  }
}

extension VectorList {
  fileprivate var mark: AcceptedListMark? {
    guard let last, let date = Timestamp(rfc3339: last.date) else { return nil }
    let number = last.number.map { UInt64(clamping: $0) } ?? (format == .vical ? nil : 0)
    return .init(issued: date, number: number, digest: last.digest ?? [])
  }
}
