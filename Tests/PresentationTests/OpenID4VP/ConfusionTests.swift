import Base
import CBOR
import Cryptography
import Mdoc
import Mock
import TestSupport
import Testing

@testable import Presentation

/// A good response is valid for its own request only. With everything else equal, even key and nonce, every other
/// protocol, origin, client and address rejects it.
///
/// In a service, each request also has its own key and nonce; here only the transcript protects.
@Suite struct ConfusionTests {
  /// The kinds of requests, all with one nonce and one key.
  enum Place: CaseIterable, CustomTestStringConvertible {
    case page, otherPage, clearPage, server, otherClient, otherAddress, clearServer, annexB, otherAnnexB

    var testDescription: String { "\(self)" }

    var recipient: OpenID4VPRecipient {
      switch self {
      case .page, .clearPage: .origin("https://verifier.example")
      case .otherPage: .origin("https://shop.example")
      case .server, .clearServer: .client(id: "x509_san_dns:verifier.example", responseURI: Self.address)
      case .otherClient: .client(id: "x509_hash:abc", responseURI: Self.address)
      case .otherAddress: .client(id: "x509_san_dns:verifier.example", responseURI: Self.address + "2")
      case .annexB: .client(id: "verifier.example", responseURI: Self.address)
      case .otherAnnexB: .client(id: "other.example", responseURI: Self.address)
      }
    }

    var isEncrypted: Bool { self != .clearPage && self != .clearServer }
    var isAnnexB: Bool { self == .annexB || self == .otherAnnexB }

    private static let address = "https://verifier.example/response"
  }

  let fixture: OpenID4VPFixture

  init() throws { fixture = try OpenID4VPFixture() }

  @Test(arguments: Place.allCases)
  func anAnswerIsGoodInItsOwnPlaceAlone(answered: Place) throws {
    let response = try fixture.deviceResponse(over: transcript(of: answered))
    for asked in Place.allCases {
      let verdict = verify(try answer(response, in: asked), in: asked)
      #expect(verdict.codes == (asked == answered ? [] : [.deviceSignatureInvalid]), "\(answered) in \(asked)")
    }
  }

  /// The same with MACs, if there is a key for them.
  @Test(arguments: Place.allCases.filter(\.isEncrypted))
  func aMACIsGoodInItsOwnPlaceAlone(answered: Place) throws {
    let response = try fixture.deviceResponse(
      over: transcript(of: answered), authentication: .mac(readerKey: fixture.key.publicKey))
    for asked in Place.allCases where asked.isEncrypted {
      let verdict = verify(try answer(response, in: asked), in: asked)
      #expect(verdict.codes == (asked == answered ? [] : [.deviceMacInvalid]), "\(answered) in \(asked)")
    }
  }

  private func transcript(of place: Place) -> SessionTranscript {
    guard place.isAnnexB, case .client(let id, let uri) = place.recipient else {
      return fixture.challenge(place.recipient, isEncrypted: place.isEncrypted).transcript
    }
    return AnnexB.transcript(clientID: id, responseURI: uri, nonce: OpenID4VPFixture.nonce, mdocNonce: "mdoc nonce")
  }

  /// The DeviceResponse in the parameters of this recipient.
  private func answer(_ response: [UInt8], in place: Place) throws -> JSON {
    let text = JSON.string(Base64.encodeURLSafe(response))
    let token: JSON = ["document_0": [text]]
    let state = JSON.string(OpenID4VPFixture.state)
    guard place.isEncrypted else {
      return place == .clearPage ? ["vp_token": token] : ["vp_token": .string(token.text()), "state": state]
    }
    let parameters: JSON =
      place.isAnnexB
      ? ["vp_token": text, "presentation_submission": ["definition_id": .string(PresentationDefinition.id)]]
      : ["vp_token": token, "state": state]
    return try fixture.encrypt(parameters) { $0["apu"] = .string(Base64.encodeURLSafe("mdoc nonce".utf8)) }
  }

  private func verify(_ answer: JSON, in place: Place) -> Verdict {
    let verifier = MdocVerifier(trust: fixture.setup.trust)
    let challenge = fixture.challenge(place.recipient, isEncrypted: place.isEncrypted)
    let authentication =
      place.isAnnexB
      ? AnnexB(verifier: verifier).authenticate(
        answer, answering: challenge, request: fixture.request, at: fixture.setup.now)
      : OpenID4VP(verifier: verifier).authenticate(
        answer, answering: challenge, request: fixture.request, at: fixture.setup.now)
    return authentication.conclude()
  }
}

/// A good response that is truncated or has a flipped bit is rejected, or gives the same result.
@Suite struct OpenID4VPPropertyTests {
  let fixture: OpenID4VPFixture
  private let parameters: [UInt8]
  private let response: [UInt8]
  private let shown: String

  init() throws {
    let small = DocumentRequest(
      docType: DocType.mDL, elements: [ElementRequest(ElementReference(Namespace.mDL, "given_name"))])
    fixture = try OpenID4VPFixture(request: PresentationRequest(documents: [small]))
    let bytes = try fixture.deviceResponse(small, over: fixture.challenge().transcript)
    let token: JSON = ["document_0": [.string(Base64.encodeURLSafe(bytes))]]
    parameters = fixture.parameters(token).serialized()
    let data = try fixture.encrypt(bytes: parameters)
    response = Array(try #require(data["response"]?.string).utf8)
    shown = try #require(fixture.verify(data).shownResult)
  }

  @Test func aTruncatedResponseIsRefused() {
    for length in 0..<response.count {
      #expect(verify(response.prefix(length)).shownResult == nil, "\(length)")
    }
  }

  @Test func truncatedParametersAreRefused() throws {
    for length in stride(from: 0, to: parameters.count, by: 11) {
      let data = try fixture.encrypt(bytes: Array(parameters.prefix(length)))
      #expect(fixture.verify(data).codes == [.envelopePlaintextMalformed], "\(length)")
    }
  }

  /// The tag covers everything, including the header.
  @Test func noBitOfTheResponseCanBeChanged() {
    var random = SeededGenerator(seed: 0x6f70_656e)
    for _ in 0..<2_000 {
      let index = Int.random(in: response.indices, using: &random)
      var changed = response
      changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      #expect(verify(changed[...]).shownResult == nil, "\(index)")
    }
  }

  /// Plaintexts that a wallet could encrypt: a change is rejected or, in an ignored name, has no effect.
  @Test func changedParametersShowNothingElse() throws {
    var random = SeededGenerator(seed: 0x6964_3476)
    for _ in 0..<500 {
      let index = Int.random(in: parameters.indices, using: &random)
      var changed = parameters
      changed[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      let result = fixture.verify(try fixture.encrypt(bytes: changed)).shownResult
      #expect(result == nil || result == shown, "\(index)")
    }
  }

  private func verify(_ response: ArraySlice<UInt8>) -> Verdict {
    fixture.verify(["response": .string(String(decoding: response, as: UTF8.self))])
  }
}
