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

  /// The members as they are written; which go together is checked by `init(parsing:)`.
  struct Members: Equatable {
    let engagement: [UInt8]?
    let readerKey: [UInt8]?
    let handover: JSON?
    let transcript: [UInt8]?
    let response: [UInt8]?
    let sessionData: [UInt8]?
    let privateKey: String?
  }

  static let shape = Shape.object(
    "ProximityResponseData", "The response that a reader received, with its transcript.", Members.init,
    .optional(
      "device_engagement", \.engagement, .someBase64URL,
      "The DeviceEngagement in base64url. Required, unless there is a `session_transcript`."),
    .optional(
      "e_reader_key", \.readerKey, .someBase64URL,
      "The reader's ephemeral public key, a COSE_Key in base64url. Required, unless there is a `session_transcript`."),
    .optional(
      "handover", \.handover, Shape<JSON>.any([:]),
      """
      How the engagement went: the text `qr`, or `{"nfc": {"select": …, "request": …}}` with the messages of \
      the NFC handover in base64url; `request` is absent or null for a static one. Required, unless there is a \
      `session_transcript`.
      """),
    .optional(
      "session_transcript", \.transcript, .someBase64URL,
      """
      The SessionTranscript in base64url, as Apple's ProximityReader returns it: in place of `device_engagement`, \
      `e_reader_key` and `handover`.
      """),
    .optional(
      "device_response", \.response, .someBase64URL,
      "The DeviceResponse in base64url. One of `device_response` and `session_data` is required, and not both."),
    .optional(
      "session_data", \.sessionData, .someBase64URL,
      "The SessionData message in base64url, encrypted as the reader received it."),
    .optional(
      "reader_private_key", \.privateKey, .text(1...Limits.submittedKeyBytes),
      """
      The private half of `e_reader_key`: unencrypted PEM, or the raw scalar in base64url. Required with \
      `session_data`, and for a device that authenticates by MAC.
      """))

  private enum Transcript {
    case whole([UInt8])
    case parts(engagement: [UInt8], readerKey: [UInt8], Proximity.Handover)
  }

  init(parsing data: JSON) throws(ServiceError) {
    var faults = Faults()
    guard let members = Self.shape.read(data, "/data", &faults) else { throw faults.refusal }
    let transcript = Self.transcript(members, &faults)
    let answer = Self.answer(members, &faults)
    guard let transcript, let answer, faults.isEmpty else { throw faults.refusal }
    let publicParts = try Self.session(transcript, privateKey: nil)
    self.answer = answer
    guard let text = members.privateKey else {
      session = publicParts
      return
    }
    guard let key = Self.privateKey(text, on: publicParts.readerKey.curve) else {
      throw .invalidMember(
        "/data/reader_private_key",
        "must be an unencrypted private key on one of the standard's curves in PEM, or its raw scalar in base64url")
    }
    session = try Self.session(transcript, privateKey: key)
  }

  private static func transcript(_ members: Members, _ faults: inout Faults) -> Transcript? {
    let parts: [(name: String, isThere: Bool)] = [
      ("device_engagement", members.engagement != nil), ("e_reader_key", members.readerKey != nil),
      ("handover", members.handover != nil),
    ]
    if let transcript = members.transcript {
      for part in parts where part.isThere { faults.add("/data/\(part.name)", "is in `session_transcript` already") }
      return .whole(transcript)
    }
    for part in parts where !part.isThere { faults.add("/data/\(part.name)", "is required") }
    guard let engagement = members.engagement, let readerKey = members.readerKey,
      let handover = members.handover.flatMap({ Self.handover($0, &faults) })
    else { return nil }
    return .parts(engagement: engagement, readerKey: readerKey, handover)
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
        throw .invalidMember(
          "/data/session_transcript", "must be the SessionTranscript of a device and a reader in person")
      case .deviceEngagementMalformed: throw .invalidMember("/data/device_engagement", "must be a DeviceEngagement")
      case .readerKeyMalformed: throw .invalidMember("/data/e_reader_key", "must be a COSE_Key that holds a public key")
      }
    }
  }

  private struct NFCMessages: Equatable {
    let select: [UInt8]
    let request: [UInt8]?

    /// `{"nfc": {"select", "request"}}`.
    static let shape = Shape<NFCMessages>.object(
      "NFCHandover", "An engagement by NFC.", { $0 }, Field("nfc", { $0 }, messages, "The messages of the handover."))

    private static let messages = Shape.object(
      "NFCHandoverMessages", "The messages of a handover.", NFCMessages.init,
      Field("select", \.select, .someBase64URL, "The Handover Select message."),
      .optional("request", \.request, .someBase64URL, "The Handover Request message."))
  }

  /// `"qr"`, or `{"nfc": {"select": base64url, "request": base64url or null}}`.
  private static func handover(_ json: JSON, _ faults: inout Faults) -> Proximity.Handover? {
    if json == "qr" { return .qr }
    guard json.object != nil else {
      faults.add("/data/handover", "must be `qr` or an object with `nfc`")
      return nil
    }
    return NFCMessages.shape.read(json, "/data/handover", &faults).map { .nfc(select: $0.select, request: $0.request) }
  }

  private static func answer(_ members: Members, _ faults: inout Faults) -> Proximity.Answer? {
    switch (members.response, members.sessionData) {
    case (let response?, nil): return .deviceResponse(response)
    case (nil, let message?):
      if members.privateKey == nil { faults.add("/data/reader_private_key", "is required to open `session_data`") }
      return .sessionData(message)
    default:
      faults.add("/data/device_response", "or `session_data` is required, and not both")
      return nil
    }
  }

  /// PKCS #8 or SEC 1, or the raw scalar of the curve that the public half is on.
  private static func privateKey(_ text: String, on curve: Curve) -> PrivateKey? {
    if text.hasPrefix("-----BEGIN") { return try? PrivateKey(pem: Array(text.utf8)) }
    return Base64.decodeURLSafe(text).flatMap { try? PrivateKey(curve: curve, scalar: $0) }
  }
}
