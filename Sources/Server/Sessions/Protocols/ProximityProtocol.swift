import Base
import Cryptography
import Mdoc
import Presentation

/// Proximity presentation (ISO/IEC 18013-5:2021) as the service sees it: a reader app asks and receives, and hands in
/// what it received with the parts of its session's transcript.
///
/// The challenge is the reader's own ephemeral key: this server has none, and cannot tell an answer that was handed in
/// before. It verifies what a reader says of its session; that it may, the API key shows.
package struct ProximityProtocol: WalletProtocol {
  package let name = "iso-18013-5-proximity"
  package let takesTranscriptFromCaller = true

  package init() {}

  /// `{"device_request": base64url}`, not signed: reader authentication needs the session's transcript.
  package func makeRequest(
    _ request: PresentationRequest, in context: RequestContext
  ) throws(ServiceError) -> OutgoingRequest {
    let made = DeviceRequest(request, additions: context.additions)
    return OutgoingRequest(
      data: ["device_request": .string(Base64.encodeURLSafe(made.encoded))],
      material: SecretBytes(copying: [UInt8]()))
  }

  package func decodeAnswer(_ data: JSON) throws(ServiceError) -> WalletAnswer {
    _ = try ProximityInput(parsing: data)
    return .answer(.parameters(data))
  }

  package func authenticate(
    _ answer: WalletAnswer.Content, answering challenge: consuming ConsumedChallenge, request: PresentationRequest,
    relyingParty: RelyingParty, verifier: MdocVerifier, at now: Timestamp
  ) -> Authentication {
    guard case .parameters(let data) = answer, let input = try? ProximityInput(parsing: data) else {
      // It was read before the challenge was consumed: only a fault of ours can make it.
      return verifier.refuse([Check(.sessionInterrupted, .failed)], at: now)
    }
    return Proximity(verifier: verifier).authenticate(input.answer, in: input.session, request: request, at: now)
  }
}

/// `data` of a proximity answer: its transcript, whole or in parts, what the reader received, and the reader's private key
/// where that is needed.
struct ProximityInput {
  let session: ReaderSession
  let answer: Proximity.Answer

  private static let members: Set<String> = [
    "device_engagement", "e_reader_key", "handover", "session_transcript", "device_response", "session_data",
    "reader_private_key",
  ]

  private enum Transcript {
    case whole([UInt8])
    case parts(engagement: [UInt8], readerKey: [UInt8], Proximity.Handover)
  }

  init(parsing data: JSON) throws(ServiceError) {
    var faults = InputFaults()
    let input = ObjectInput(data, at: "/data", known: Self.members, &faults)
    let transcript = input.flatMap { Self.transcript($0, &faults) }
    let answer = input.flatMap { Self.answer($0, &faults) }
    try faults.throwIfAny()
    guard let input, let transcript, let answer else { throw ServiceError(.apiInvalidRequest) }
    let publicParts = try Self.session(transcript, privateKey: nil)
    self.answer = answer
    guard let keyText = input.value("reader_private_key") else {
      session = publicParts
      return
    }
    guard (keyText.string?.utf8.count ?? 0) <= Limits.submittedKeyBytes else {
      throw Self.fault("reader_private_key", "must have at most \(Limits.submittedKeyBytes) bytes")
    }
    guard let key = keyText.string.flatMap({ Self.privateKey($0, on: publicParts.readerKey.curve) }) else {
      throw Self.fault(
        "reader_private_key",
        "must be an unencrypted private key on one of the standard's curves in PEM, or its raw scalar in base64url")
    }
    session = try Self.session(transcript, privateKey: key)
  }

  private static func transcript(_ input: ObjectInput, _ faults: inout InputFaults) -> Transcript? {
    guard input.value("session_transcript") != nil else {
      let engagement = input.bytes("device_engagement", required: true, &faults)
      let readerKey = input.bytes("e_reader_key", required: true, &faults)
      guard let handover = Self.handover(input, &faults), let engagement, let readerKey else { return nil }
      return .parts(engagement: engagement, readerKey: readerKey, handover)
    }
    for name in ["device_engagement", "e_reader_key", "handover"] where input.value(name) != nil {
      faults.add(input.pointer(to: name), "is in `session_transcript` already")
    }
    return input.bytes("session_transcript", required: true, &faults).map(Transcript.whole)
  }

  private static func session(
    _ transcript: Transcript, privateKey: PrivateKey?
  ) throws(ServiceError) -> ReaderSession {
    do throws(ReaderSession.Problem) {
      switch transcript {
      case .whole(let encoded): return try ReaderSession(transcript: encoded, privateKey: privateKey)
      case .parts(let engagement, let readerKey, let handover):
        return try ReaderSession(
          deviceEngagement: engagement, readerKey: readerKey, handover: handover, privateKey: privateKey)
      }
    } catch {
      switch error {
      case .transcriptMalformed:
        throw fault("session_transcript", "must be the SessionTranscript of a device and a reader in person")
      case .deviceEngagementMalformed: throw fault("device_engagement", "must be a DeviceEngagement")
      case .readerKeyMalformed: throw fault("e_reader_key", "must be a COSE_Key that holds a public key")
      }
    }
  }

  private static func fault(_ member: String, _ detail: String) -> ServiceError {
    ServiceError(.apiInvalidRequest, pointers: [.init(pointer: "/data/\(member)", detail: detail)])
  }

  /// `"qr"`, or `{"nfc": {"select": base64url, "request": base64url or null}}`.
  private static func handover(_ input: ObjectInput, _ faults: inout InputFaults) -> Proximity.Handover? {
    guard let value = input.value("handover") else {
      faults.add(input.pointer(to: "handover"), "is required")
      return nil
    }
    if value == "qr" { return .qr }
    let pointer = input.pointer(to: "handover")
    guard value.object != nil else {
      faults.add(pointer, "must be `qr` or an object with `nfc`")
      return nil
    }
    guard let outer = ObjectInput(value, at: pointer, known: ["nfc"], &faults), let messages = outer.value("nfc") else {
      faults.add(pointer + "/nfc", "is required")
      return nil
    }
    let nfc = ObjectInput(messages, at: pointer + "/nfc", known: ["select", "request"], &faults)
    let request = nfc?.bytes("request", required: false, &faults)
    return nfc?.bytes("select", required: true, &faults).map { .nfc(select: $0, request: request) }
  }

  private static func answer(_ input: ObjectInput, _ faults: inout InputFaults) -> Proximity.Answer? {
    guard (input.value("device_response") == nil) != (input.value("session_data") == nil) else {
      faults.add(input.pointer(to: "device_response"), "or `session_data` is required, and not both")
      return nil
    }
    if let response = input.bytes("device_response", required: false, &faults) { return .deviceResponse(response) }
    guard let message = input.bytes("session_data", required: false, &faults) else { return nil }
    if input.value("reader_private_key") == nil {
      faults.add(input.pointer(to: "reader_private_key"), "is required to open `session_data`")
    }
    return .sessionData(message)
  }

  /// PKCS #8 or SEC 1, or the raw scalar of the curve that the public half is on.
  private static func privateKey(_ text: String, on curve: Curve) -> PrivateKey? {
    if text.hasPrefix("-----BEGIN") { return try? PrivateKey(pem: Array(text.utf8)) }
    return Base64.decodeURLSafe(text).flatMap { try? PrivateKey(curve: curve, scalar: $0) }
  }
}

extension ObjectInput {
  /// Base64url in its one accepted form.
  fileprivate func bytes(_ name: String, required: Bool, _ faults: inout InputFaults) -> [UInt8]? {
    guard let value = value(name) else {
      if required { faults.add(pointer(to: name), "is required") }
      return nil
    }
    guard let bytes = value.string.flatMap(Base64.decodeURLSafe), !bytes.isEmpty else {
      faults.add(pointer(to: name), "must be base64url, without padding or white space")
      return nil
    }
    return bytes
  }
}
