import App
import Base
import Cryptography
import Mock
import TestMode

/// The mock wallet in the load's own process, so that a node can be killed without taking the wallet along.
///
/// Of the nodes' seed come the authority that they trust and the key that they open answers with. The lists that the
/// documents name are served from here as well.
struct LoadWallet: Sendable {
  private let wallet: MockWallet
  private let merchantID: String
  private let teamID: String
  private let recipientKey: PublicKey

  /// - Parameter mode: a server of the same seed, which nobody calls.
  init(_ mode: TestServer) throws {
    wallet = MockWallet(authority: mode.authority)
    merchantID = mode.merchantID
    teamID = mode.teamID
    recipientKey = try PublicKey(curve: .p256, encoded: mode.encryptionPublicKey)
  }

  /// A submit's body for the created session, made at the node's time; nil where that is no session to answer.
  func answer(_ created: JSON) -> [UInt8]? {
    guard let nonce = created["requests"]?.array?.first?["data"]?["nonce"]?.string.flatMap(Base64.decode),
      let now = created["created"]?.integer
    else { return nil }
    let session = MockAppleSession(
      nonce: nonce, merchantID: merchantID, teamID: teamID, recipientKey: recipientKey)
    let answer = try? wallet.answerApple(
      Self.request, session: session, at: Timestamp(secondsSince1970: now))
    guard let answer else { return nil }
    let body: JSON = [
      "protocol": "apple-in-app", "data": ["encrypted_data": .string(Base64.encode(answer.bytes))],
    ]
    return body.serialized()
  }

  /// What `ServerBenchmarkWorker.requestBytes` asks for.
  private static let request = MockRequest(documents: [
    MockRequest.Document(
      docType: MockDocType.mDL, elements: ServerBenchmarkWorker.elements.map { (MockNamespace.mDL, $0) },
      ageOver: [Int(ServerBenchmarkWorker.age)])
  ])
}
