import Base
import Cryptography
import Mdoc
import Presentation

/// `org-iso-mdoc` of the Digital Credentials API (ISO/IEC TS 18013-7, Annex C) as the service sees it.
package struct AnnexCProtocol: WalletProtocol {
  package let name = "org-iso-mdoc"

  package init() {}

  /// `{"deviceRequest": base64url, "encryptionInfo": base64url}`.
  package func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    guard let origin = context.origin else {
      throw ServiceError(.apiInvalidRequest, pointers: [.init(pointer: "/origin", detail: "is required")])
    }
    let reader = try context.currentReader()
    do throws(CryptoError) {
      let challenge = try AnnexCChallenge(freshFor: origin)
      let deviceRequest = try DeviceRequest(
        request, reader: reader, transcript: challenge.transcript, additions: context.additions)
      return OutgoingRequest(
        data: [
          "deviceRequest": .string(Base64.encodeURLSafe(deviceRequest.encoded)),
          "encryptionInfo": .string(challenge.encryptionInfo),
        ],
        material: try Material.serialized(challenge))
    } catch {
      throw .cryptoFailed
    }
  }

  /// `{"response": base64url}`; the member is `Response` in the text of the standard. What else a wallet puts beside
  /// it is left alone.
  package func decodeAnswer(_ data: JSON) throws(ServiceError) -> WalletAnswer {
    let members = (data.object ?? []).filter { $0.name == "response" || $0.name == "Response" }
    guard members.count == 1, let text = members[0].value.string, let answer = Base64.decodeURLSafe(text) else {
      let detail =
        members.count > 1 ? "is there as `Response` too" : "must be base64url, without padding or white space"
      throw ServiceError(.apiInvalidRequest, pointers: [.init(pointer: "/data/response", detail: detail)])
    }
    return .answer(.bytes(answer))
  }

  package func authenticate(
    _ answer: WalletAnswer.Content, answering challenge: consuming ConsumedChallenge, request: PresentationRequest,
    relyingParty: RelyingParty, verifier: MdocVerifier, at now: Timestamp
  ) -> Authentication {
    guard case .bytes(let response) = answer, let opening = Material.challenge(challenge.material) else {
      // What we sealed ourselves opened but does not read: only a fault of ours can make it.
      return verifier.refuse([Check(.sessionInterrupted, .failed)], at: now)
    }
    return AnnexC(verifier: verifier).authenticate(
      response, answering: opening, request: request, otherOrigins: relyingParty.origins, at: now)
  }

  /// What opens an answer: the 32 bytes of the private scalar, and after them JSON with what is no secret.
  private enum Material {
    static let scalarLength = 32

    static func serialized(_ challenge: borrowing AnnexCChallenge) throws(CryptoError) -> SecretBytes {
      let json: JSON = ["encryption_info": .string(challenge.encryptionInfo), "origin": .string(challenge.origin)]
      let rest = json.serialized()
      let scalar = try challenge.privateScalar()
      return try SecretBytes(count: scalarLength + rest.count) { buffer throws(CryptoError) in
        scalar.withUnsafeBytes { buffer.copyMemory(from: $0) }
        UnsafeMutableRawBufferPointer(rebasing: buffer[scalarLength...]).copyBytes(from: rest)
      }
    }

    static func challenge(_ material: borrowing SecretBytes) -> AnnexCChallenge? {
      material.withUnsafeBytes { bytes in
        guard bytes.count > scalarLength, let json = try? JSON(parsing: Array(bytes[scalarLength...])),
          let encryptionInfo = json["encryption_info"]?.string, let origin = json["origin"]?.string
        else { return nil }
        return try? AnnexCChallenge(
          privateScalar: UnsafeRawBufferPointer(rebasing: bytes[..<scalarLength]), encryptionInfo: encryptionInfo,
          origin: origin)
      }
    }
  }
}
