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

  /// `data` of a submit: `{"response": base64url}`. The text of the standard has `Response`, which is read too; names
  /// that differ in case alone break generated clients. What else a wallet puts beside it is left alone.
  static let response: Shape<[UInt8]> = {
    let bytes = Shape.base64URL
    let member = bytes.schema.described("The wallet's encrypted response (ISO/IEC TS 18013-7, C), in base64url.")
    let schema = Schema.openObject(["response": member], required: ["response"]).described(
      "The response that the Digital Credentials API gave the page."
    ).titled("MdocResponseData")
    return Shape(schema) { json, pointer, faults in
      let members = ["response", "Response"].compactMap { json[$0] }.filter { !$0.isNull }
      if members.count == 1 { return bytes.read(members[0], pointer + "/response", &faults) }
      faults.add(pointer + "/response", members.isEmpty ? "is required" : "is there as `Response` too")
      return nil
    } write: {
      ["response": bytes.write($0)]
    }
  }()

  package func decodeAnswer(_ data: JSON) throws(ServiceError) -> WalletAnswer {
    .answer(.bytes(try Self.response.value(of: data, at: "/data")))
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
