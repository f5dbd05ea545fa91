import Base
import Cryptography
import Mdoc
import Presentation

/// Proximity presentation (ISO/IEC 18013-5:2021). A reader app sends the request, then submits the response with the
/// transcript or its parts. Trust in the transcript rests on the API key. This server has no key in the proximity
/// session, and cannot detect a replay.
struct ProximityProtocol: WalletProtocol {
  let name = "iso-18013-5-proximity"
  let takesTranscriptFromCaller = true

  /// `{"device_request": base64url}`. The request is not signed: reader authentication needs the session's transcript.
  func makeRequest(_ request: PresentationRequest, in context: RequestContext) throws(ServiceError) -> OutgoingRequest {
    let made = DeviceRequest(request, additions: context.additions)
    return OutgoingRequest(
      data: ["device_request": .string(Base64.encodeURLSafe(made.encoded))], material: SecretBytes(copying: [UInt8]()))
  }

  func decode(_ data: JSON, at pointer: String) throws(ServiceError) -> WalletResponse {
    _ = try ProximityInput(parsing: data)
    return .response(.parameters(data))
  }

  func authenticate(
    _ response: WalletResponse.Content, to challenge: consuming ConsumedChallenge, by rules: VerificationRules
  ) -> Authentication {
    guard case .parameters(let data) = response, let input = try? ProximityInput(parsing: data) else {
      return rules.interrupted()
    }
    return Proximity(verifier: rules.verifier).authenticate(
      input.response, in: input.session, request: rules.request, at: rules.now)
  }
}

/// `data` of a proximity response: the response, the transcript or its parts, and the reader's private key.
struct ProximityInput {
  let session: ReaderSession
  let response: Proximity.Response

  /// The members as submitted. `init(parsing:)` checks their combinations.
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
      "The DeviceEngagement in base64url. Required without `session_transcript`."),
    .optional(
      "e_reader_key", \.readerKey, .someBase64URL,
      "The reader's ephemeral public key, a COSE_Key in base64url. Required without `session_transcript`."),
    .optional(
      "handover", \.handover, Shape<JSON>.any([:]),
      """
      The handover: the text `qr`, or `{"nfc": {"select": …, "request": …}}` with the messages of \
      the NFC handover in base64url; `request` is absent or null for static handover. Required, unless there is a \
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
      "The DeviceResponse in base64url. Send exactly one of `device_response` and `session_data`."),
    .optional(
      "session_data", \.sessionData, .someBase64URL,
      "The SessionData message in base64url, encrypted as the reader received it."),
    .optional(
      "reader_private_key", \.privateKey, .text(1...Limits.submittedKeyBytes),
      """
      The private half of `e_reader_key`: unencrypted PEM, or the raw scalar in base64url. Required with \
      `session_data`, and for a device that authenticates by MAC.
      """))

  /// Makes the session from the transcript or its parts and, if present, the reader's private key.
  private typealias Opening = (PrivateKey?) throws(ReaderSessionError) -> ReaderSession

  init(parsing data: JSON) throws(ServiceError) {
    var faults = Faults()
    guard let members = Self.shape.read(data, "/data", &faults) else { throw faults.refusal }
    let opening = Self.opening(members, &faults)
    let response = Self.response(members, &faults)
    guard let opening, let response, faults.isEmpty else { throw faults.refusal }
    let publicParts = try Self.session(opening, privateKey: nil)
    self.response = response
    guard let text = members.privateKey else {
      session = publicParts
      return
    }
    guard let key = Self.privateKey(text, on: publicParts.readerKey.curve) else {
      throw .invalidMember(
        "/data/reader_private_key",
        "must be an unencrypted private key on one of the standard's curves in PEM, or its raw scalar in base64url")
    }
    session = try Self.session(opening, privateKey: key)
  }

  private static func opening(_ members: Members, _ faults: inout Faults) -> Opening? {
    let parts: [(name: String, isThere: Bool)] = [
      ("device_engagement", members.engagement != nil), ("e_reader_key", members.readerKey != nil),
      ("handover", members.handover != nil),
    ]
    if let transcript = members.transcript {
      for part in parts where part.isThere {
        faults.add("/data/\(part.name)", "is already in `session_transcript`; send one of the two")
      }
      return { key throws(ReaderSessionError) in try ReaderSession(transcript: transcript, privateKey: key) }
    }
    for part in parts where !part.isThere { faults.add("/data/\(part.name)", "is required") }
    guard let engagement = members.engagement, let readerKey = members.readerKey,
      let handover = members.handover.flatMap({ Self.handover($0, &faults) })
    else { return nil }
    return { key throws(ReaderSessionError) in
      try ReaderSession(deviceEngagement: engagement, readerKey: readerKey, handover: handover, privateKey: key)
    }
  }

  private static func session(_ opening: Opening, privateKey: PrivateKey?) throws(ServiceError) -> ReaderSession {
    do throws(ReaderSessionError) { return try opening(privateKey) } catch {
      switch error {
      case .transcriptMalformed:
        throw .invalidMember(
          "/data/session_transcript", "must be the SessionTranscript of an in-person session")
      case .deviceEngagementMalformed: throw .invalidMember("/data/device_engagement", "must be a DeviceEngagement")
      case .readerKeyMalformed:
        throw .invalidMember("/data/e_reader_key", "must be a COSE_Key that contains a public key")
      }
    }
  }

  private struct NFCMessages: Equatable {
    let select: [UInt8]
    let request: [UInt8]?

    static let shape = Shape<NFCMessages>.object(
      "NFCHandover", "A handover by NFC.", { $0 }, Field("nfc", { $0 }, messages, "The messages of the handover."))

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

  private static func response(_ members: Members, _ faults: inout Faults) -> Proximity.Response? {
    switch (members.response, members.sessionData) {
    case (let response?, nil): return .deviceResponse(response)
    case (nil, let message?):
      if members.privateKey == nil { faults.add("/data/reader_private_key", "is required to open `session_data`") }
      return .sessionData(message)
    default:
      faults.add("/data/device_response", "is required, unless `session_data` is sent: send exactly one of the two")
      return nil
    }
  }

  /// Reads a private key: PKCS #8 or SEC 1, or the raw scalar on the public key's curve.
  static func privateKey(_ text: String, on curve: Curve) -> PrivateKey? {
    if text.hasPrefix("-----BEGIN") { return try? PrivateKey(pem: Array(text.utf8)) }
    return Base64.decodeURLSafe(text).flatMap { try? PrivateKey(curve: curve, scalar: $0) }
  }
}
