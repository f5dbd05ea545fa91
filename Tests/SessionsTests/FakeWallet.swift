import Base
import Cryptography

@testable import Mdoc
@testable import Sessions

/// A protocol with words as responses: `good` is accepted, `no` is the wallet's own refusal, all others are rejected.
/// It checks that its material is returned.
struct FakeWallet: WalletProtocol {
  var name = "apple-in-app"
  /// Runs while a response is verified.
  var whileVerifying: @Sendable () -> Void = {}

  func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    do {
      let nonce = Base64.encode(try Random.bytes(Limits.nonceBytes))
      return OutgoingRequest(
        data: ["nonce": .string(nonce), "documents": []],
        material: SecretBytes(copying: Array("material of \(nonce)".utf8)))
    } catch {
      throw ServiceError(.apiInternal)
    }
  }

  func decode(_ data: JSON, at pointer: String) throws(ServiceError) -> WalletResponse {
    guard data.object?.map(\.name) == ["encrypted_data"] else { throw ServiceError(.apiUnknownMember) }
    guard let bytes = data["encrypted_data"]?.string.flatMap(Base64.decodeEither) else {
      throw ServiceError(
        .apiInvalidRequest, pointers: [.init(pointer: pointer + "/encrypted_data", detail: "must be base64")])
    }
    return bytes == Array("no".utf8) ? .refusal(.walletAccessDenied) : .response(.bytes(bytes))
  }

  func authenticate(
    _ response: WalletResponse.Content, to challenge: consuming ConsumedChallenge, by rules: VerificationRules
  ) -> Authentication {
    guard case .bytes(let answer) = response else {
      return rules.verifier.refuse([Check(.envelopeMalformed, .failed)], at: rules.now)
    }
    return Authentication(decided: verdict(on: answer, challenge: challenge, at: rules.now))
  }

  private func verdict(on answer: [UInt8], challenge: borrowing ConsumedChallenge, at now: Timestamp) -> Verdict {
    whileVerifying()
    let nonce = (try? challenge.requestData.parsed())?["nonce"]?.string ?? ""
    guard challenge.material.exposed() == Array("material of \(nonce)".utf8) else {
      return refused([Check(.envelopeDecryptionFailed, .failed)], now)
    }
    // A refusal that is found only once the response is open.
    if answer == Array("sealed no".utf8) { return refused([Check(.walletAccessDenied, .failed)], now) }
    guard answer == Array("good".utf8) else {
      return refused(
        [Check(.envelopeMalformed, .passed), Check(.envelopeTranscriptMismatch, .failed, detail: "another nonce")], now)
    }
    return Verdict(
      outcome: .accepted(Fixture.presentation),
      report: VerificationReport(
        verifiedAt: now, trustSnapshot: "5eed", checks: [Check(.envelopeMalformed, .passed)],
        documents: [DocumentReport(docType: DocType.mDL, checks: [Check(.digestMismatch, .passed)])]))
  }

  private func refused(_ checks: [Check], _ now: Timestamp) -> Verdict {
    .refused(VerificationReport(verifiedAt: now, trustSnapshot: "5eed", checks: checks))
  }
}
