import Base
import Cryptography
import Mdoc
import Sessions

/// A protocol whose request is fetched: the object is the words that a test looks for, and answers are those of
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

  func decodeAnswer(_ data: JSON) throws(ServiceError) -> WalletAnswer {
    guard let word = data["word"]?.string else {
      throw ServiceError(.apiInvalidRequest, pointers: [.init(pointer: "/data/word", detail: "is required")])
    }
    return try wallet.decodeAnswer(["encrypted_data": .string(Base64.encode(Array(word.utf8)))])
  }

  func authenticate(
    _ answer: WalletAnswer.Content, answering challenge: consuming ConsumedChallenge, request: PresentationRequest,
    relyingParty: RelyingParty, verifier: MdocVerifier, at now: Timestamp
  ) -> Authentication {
    wallet.authenticate(
      answer, answering: challenge, request: request, relyingParty: relyingParty, verifier: verifier, at: now)
  }
}
