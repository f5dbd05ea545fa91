import Base
import Cryptography
import Mdoc
import Sessions
import TestStores
import TestSupport
import Testing
import Trust

@testable import Vectors

/// `POST /v1/verifications` gives the verdict of every vector with a transcript or an envelope, as `mdoc verify` does.
@Suite struct VerificationCorpusTests {
  @Test func `the verdicts are the corpus's`() async throws {
    let suite = try CommittedCorpus.suite()
    let own = OwnVerifier(anchors: suite.anchors)
    var judged = 0
    var accepted = 0
    for vector in suite.entries.map(\.vector) {
      guard let made = madeFor(vector), !vector.policy.isStrict, vector.publications.isEmpty,
        !vector.input.bytes.isEmpty, let service = try service(for: vector, suite.anchors)
      else { continue }
      let party = try #require(service.relyingParties.all.first)
      let body = JSON.object(
        made + [
          .init("response", .string(Base64.encodeURLSafe(vector.input.bytes))), .init("request", vector.request),
          .init("at", .integer(vector.validationTime.secondsSince1970)),
        ])
      let reply: JSON
      do {
        reply = try await JSON(parsing: service.verify(body, as: .apiKey(party, scopes: [.verificationsWrite])).bytes)
      } catch let error as ServiceError where error.code == .zkCircuitsMissing || error.code == .zkNotProvable {
        continue
      }
      let verdict = try #require(try await own.verdict(on: vector, input: vector.input.bytes))
      let expected = VerdictRendering.json(verdict)
      #expect(reply["status"] == expected["status"], "\(vector.id)")
      #expect(reply["last_error"]?["code"] == expected["last_error"]?["code"], "\(vector.id)")
      #expect(reply["result"] == expected["result"], "\(vector.id)")
      judged += 1
      accepted += reply["status"] == "verified" ? 1 : 0
    }
    print("verifications: \(judged) vectors, \(accepted) accepted")
    #expect(judged > 350 && accepted > 100 && judged - accepted > 200)
  }

  /// The members with the values that the response was made for; nil if the vector's input belongs to another protocol.
  private func madeFor(_ vector: TestVector) -> [JSON.Member]? {
    func text(_ bytes: [UInt8]) -> JSON { .string(Base64.encodeURLSafe(bytes)) }
    switch vector.session {
    case .proximity(let session):
      return [.init("session_transcript", text(session.transcript))]
        + (session.readerKey.map { [.init("reader_key", text($0))] } ?? [])
    case .appleInApp(let session):
      let members: JSON = ["nonce": text(session.nonce), "merchant_identifier": .string(session.merchantID)]
      return [.init("apple_in_app", members)]
    default: return nil
    }
  }

  /// A service that trusts what the vector's verifier trusts, by the vector's policy.
  private func service(for vector: TestVector, _ anchors: SuiteAnchors) throws -> VerificationService? {
    guard vector.anchorList == nil, let trust = anchors.store(of: vector) else { return nil }
    var merchants: [AppleConfiguration] = []
    if case .appleInApp(let session) = vector.session {
      let key = try PrivateKey(curve: .p256, scalar: session.recipientKey)
      merchants = [
        AppleConfiguration(merchantID: session.merchantID, teamID: session.teamID, encryptionKeys: [key])
      ]
    }
    let party = RelyingParty(
      id: "corpus", apple: merchants, policies: .init(revocation: vector.policy.revocation))
    var configuration = ServiceConfiguration(
      mode: .test, relyingParties: try RelyingParties([party]), protocols: [], trust: CurrentTrust(trust),
      revocation: NoRevocationSource(), sealingKeys: [])
    configuration.clockSkew = vector.policy.clockSkew
    return try VerificationService(configuration, store: InMemoryStore(mode: .test)) { vector.validationTime }
  }
}
