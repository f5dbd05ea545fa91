import Base
import Cryptography
import Mdoc
import Presentation

/// The protocol `org-iso-mdoc` of the Digital Credentials API (ISO/IEC TS 18013-7, Annex C).
struct AnnexCProtocol: WalletProtocol {
  let name = "org-iso-mdoc"
  let signsAtOnce = true

  /// `{"deviceRequest": base64url, "encryptionInfo": base64url}`.
  func makeRequest(_ request: PresentationRequest, in context: RequestContext) throws(ServiceError) -> OutgoingRequest {
    guard let origin = context.origin else { throw .invalidMember("/origin", "is required") }
    let reader = try context.currentReader()
    do throws(CryptoError) {
      let challenge = try AnnexCChallenge(freshFor: origin)
      let deviceRequest = try DeviceRequest(
        request, signedBy: reader, over: challenge.transcript, additions: context.additions)
      return OutgoingRequest(
        data: [
          "deviceRequest": .string(Base64.encodeURLSafe(deviceRequest.encoded)),
          "encryptionInfo": .string(challenge.encryptionInfo),
        ], material: try challenge.serialized())
    } catch { throw ServiceError(error) }
  }

  /// The `data` of a submit request: `{"response": base64url}`. The standard's name, `Response`, is accepted too. The
  /// schema omits it, since names that differ only in case break generated clients. Other members are ignored.
  static let response: Shape<[UInt8]> = {
    let bytes = Shape.base64URL
    let member = bytes.schema.described("The wallet's encrypted response (ISO/IEC TS 18013-7, C), in base64url.")
    let schema = Schema.openObject(["response": member], required: ["response"]).described(
      "The response that the Digital Credentials API returned to the page."
    ).titled("MdocResponseData")
    return Shape(schema) { json, pointer, faults in
      let members = ["response", "Response"].compactMap { json[$0] }.filter { !$0.isNull }
      if members.count == 1 { return bytes.read(members[0], pointer + "/response", &faults) }
      faults.add(pointer + "/response", members.isEmpty ? "is required" : "is a duplicate of `Response`")
      return nil
    } write: {
      ["response": bytes.write($0)]
    }
  }()

  func decode(_ data: JSON, at pointer: String) throws(ServiceError) -> WalletResponse {
    .response(.bytes(try Self.response.value(of: data, at: pointer)))
  }

  func authenticate(
    _ response: WalletResponse.Content, to challenge: consuming ConsumedChallenge, by rules: VerificationRules
  ) -> Authentication {
    guard case .bytes(let response) = response, let opening = AnnexCChallenge(serialized: challenge.material) else {
      return rules.interrupted()
    }
    return AnnexC(verifier: rules.verifier).authenticate(
      response, answering: opening, request: rules.request, otherOrigins: rules.relyingParty.origins, at: rules.now)
  }
}
