import Mdoc
import MockIssuance
import Primitives
import VerificationService

/// The mock wallet behind `POST /v1/test/mock_responses`: test mode's phone.
struct MockWalletEndpoint: Sendable {
  let authority: MockAuthority

  func respond(_ call: RouteCall) async throws(ServiceError) -> Answer {
    let input = try MockResponseInput(parsing: call.body)
    let pending = try await call.application.service.pendingRequest(input.session, as: call.authenticated())
    guard pending.protocolName == "apple-in-app", let apple = pending.relyingParty.apple,
      let recipient = apple.encryptionKeys.first,
      let nonce = pending.data["nonce"]?.string.flatMap(Base64.decode)
    else { throw ServiceError(.apiProtocolUnsupported, "The mock wallet does not answer this protocol.") }
    let session = MockAppleSession(
      nonce: nonce, merchantID: apple.merchantID, teamID: apple.teamID, recipientKey: recipient.publicKey)
    let answer: MockAnswer
    do {
      let wallet = MockWallet(authority: authority, documents: try input.documents())
      answer = try wallet.answerApple(
        input.restricted(MockRequest(pending.request)), session: session, variant: input.variant,
        at: call.application.clock())
    } catch let error as MockError {
      throw input.fault(error)
    } catch {
      throw ServiceError(.apiInternal, "The mock wallet failed.")
    }
    var reply = Answer(
      json: [
        "protocol": .string(pending.protocolName), "data": ["encrypted_data": .string(Base64.encode(answer.bytes))],
      ])
    reply.session = SessionID(input.session)?.text
    return reply
  }
}

extension MockRequest {
  fileprivate init(_ request: PresentationRequest) {
    self.init(
      documents: request.documents.map { document in
        Document(
          docType: document.docType,
          elements: document.elements.map { ($0.element.namespace, $0.element.identifier) },
          ageOver: document.ageThresholds)
      })
  }
}
