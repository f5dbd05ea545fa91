import Cryptography
import Mdoc
import Presentation
import Primitives
import Trust
import VerificationService

/// This project's verifier, asked by vectors.
public struct OwnVerifier: Sendable {
  private let anchors: SuiteAnchors
  private let stores = Locked<[String: TrustStore]>([:])

  public init(anchors: SuiteAnchors) { self.anchors = anchors }

  /// - Parameter input: in place of the vector's, for properties over changed bytes.
  public func judge(_ vector: TestVector, input: [UInt8]? = nil) -> Judgement {
    do {
      guard let verdict = try verdict(on: vector, input: input ?? vector.input.bytes) else { return .emptyStore }
      return Judgement(verdict, session: vector.session)
    } catch let error as VectorFault {
      return .invalid(error.description)
    } catch {
      return .invalid("it can't be set up")
    }
  }

  /// Nil where nobody is trusted.
  func verdict(on vector: TestVector, input: [UInt8]) throws -> Verdict? {
    guard let store = store(of: vector) else { return nil }
    let verifier = MdocVerifier(
      trust: store, clockSkew: vector.policy.clockSkew, isStrict: vector.policy.isStrict)
    return try verify(vector, input, verifier)
  }

  private func verify(_ vector: TestVector, _ input: [UInt8], _ verifier: MdocVerifier) throws -> Verdict {
    switch vector.session {
    case .appleInApp(let session):
      let key = try Self.key(session.recipientKey, "/session/recipient_key")
      let challenge = try AppleChallenge(
        nonce: session.nonce, merchantID: session.merchantID, teamID: session.teamID)
      return AppleInApp(verifier: verifier, keys: [key]).verify(
        input, answering: challenge, request: try Self.request(vector, for: .inApp), at: vector.validationTime)
    case .proximity(let session):
      return Proximity(verifier: verifier).verify(
        input, transcript: try SessionTranscript(encoded: session.transcript),
        readerKey: try session.readerKey.map { try Self.key($0, "/session/reader_key") },
        request: try Self.request(vector, for: .web), at: vector.validationTime)
    }
  }

  /// One store for all vectors with the same anchors: it remembers signers, as a server's does.
  private func store(of vector: TestVector) -> TrustStore? {
    let key = vector.trustAnchors.joined(separator: "/") + (vector.policy.trustsTestCertificates ? "" : " live")
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

  private static func request(_ vector: TestVector, for family: ProtocolFamily) throws -> PresentationRequest {
    do throws(ServiceError) {
      return try PresentationRequestDecoder(for: family).decode(vector.request)
    } catch {
      throw VectorFault(pointer: "/request" + (error.pointers.first?.pointer ?? ""), problem: error.detail)
    }
  }
}
