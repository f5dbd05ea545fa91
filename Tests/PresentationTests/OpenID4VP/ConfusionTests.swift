import Base
import CBOR
import Cryptography
import Mdoc
import Mock
import TestSupport
import Testing

@testable import Presentation

/// A good answer to one request is good for that one alone: with all else the same, key and nonce included, every
/// other protocol, origin, client and address refuses it.
///
/// In a service each request has a key and a nonce of its own besides; here the transcript alone has to hold.
@Suite struct ConfusionTests {
  /// The ways to be asked, all with one nonce and one key.
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

  /// The same with MACs, where there is a key that they are made with.
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

  /// The DeviceResponse in the parameters that the place takes.
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
