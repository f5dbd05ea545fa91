import Base
import Cryptography
import Mdoc

@testable import Sessions

/// A protocol whose request is fetched. The request object is text that a test looks for. Responses are those of
/// `FakeWallet`, in the form's field `word`.
struct FakeFetchedWallet: FetchedRequestProtocol {
  let name = "openid4vp"
  private let wallet = FakeWallet(name: "openid4vp")

  func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    try wallet.makeRequest(request, in: context)
  }

  func requestObject(
    _ material: borrowing SecretBytes, for request: PresentationRequest, wallet: PostedByWallet,
    in context: RequestContext
  ) throws(ServiceError) -> [UInt8] {
    let material = String(decoding: material.exposed(), as: UTF8.self)
    return Array("\(context.session.relyingParty) \(material) for \(wallet.nonce ?? "nobody")".utf8)
  }

  func isState(_ given: String?, _ material: borrowing SecretBytes) -> Bool { true }

  func decode(_ data: JSON, at pointer: String) throws(ServiceError) -> WalletResponse {
    guard let word = data["word"]?.string else {
      throw ServiceError(.apiInvalidRequest, pointers: [.init(pointer: pointer + "/word", detail: "is required")])
    }
    return try wallet.decode(["encrypted_data": .string(Base64.encode(Array(word.utf8)))], at: pointer)
  }

  func authenticate(
    _ response: WalletResponse.Content, to challenge: consuming ConsumedChallenge, by rules: VerificationRules
  ) -> Authentication {
    wallet.authenticate(response, to: challenge, by: rules)
  }
}
