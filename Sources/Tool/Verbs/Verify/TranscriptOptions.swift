import Base
import Cryptography
import Mdoc
import Presentation

/// The options for the input that a reader received in a session and for the session's transcript, which is one file or
/// its parts.
enum TranscriptOptions {
  static let all: [Option] = [.response, .sessionData] + session + [.readerKey]

  /// The options that give a transcript.
  static let session: [Option] = [.transcript] + parts

  private static let parts: [Option] = [.deviceEngagement, .eReaderKey, .handover, .nfcSelect, .nfcRequest]

  static let note =
    "Instead of --transcript, its parts can be given: the DeviceEngagement, the reader's ephemeral public key as it "
    + "was sent, and how the two met. Then the report says where the device took another handover, and --session-data can "
    + "take the device's encrypted message in place of --response."

  /// Authenticates the answer that `--response` or `--session-data` names.
  static func authenticate(
    _ arguments: ParsedArguments, verifier: MdocVerifier, request: PresentationRequest?, at now: Timestamp
  ) throws(Failure) -> Authentication {
    let proximity = Proximity(verifier: verifier)
    let readerKey = try arguments.value(.readerKey).map { path throws(Failure) in try KeyFile.privateKey(path) }
    if let path = arguments.value(.transcript) {
      let transcript = try TranscriptFile.transcript(path)
      try refuse(parts, beside: .transcript, arguments)
      try refuse([.sessionData], beside: .transcript, arguments)
      return proximity.authenticate(
        try WireBytes.answer(at: try response(arguments)), transcript: transcript, readerKey: readerKey,
        request: request, at: now)
    }
    let session = try session(arguments, readerKey)
    guard let path = arguments.value(.sessionData) else {
      return proximity.authenticate(
        .deviceResponse(try WireBytes.answer(at: try response(arguments))), in: session, request: request, at: now)
    }
    try refuse([.response], beside: .sessionData, arguments)
    guard readerKey != nil else { throw .usage("--session-data needs --reader-key, which opens it") }
    return proximity.authenticate(
      .sessionData(try WireBytes.answer(at: path)), in: session, request: request, at: now)
  }

  /// The transcript that the options give.
  static func transcript(_ arguments: ParsedArguments) throws(Failure) -> SessionTranscript {
    guard let path = arguments.value(.transcript) else { return try session(arguments, nil).transcript }
    try refuse(parts, beside: .transcript, arguments)
    return try TranscriptFile.transcript(path)
  }

  private static func session(
    _ arguments: ParsedArguments, _ privateKey: PrivateKey?
  ) throws(Failure) -> ReaderSession {
    let engagement = try part(.deviceEngagement, arguments)
    let readerKey = try part(.eReaderKey, arguments)
    let handover = try handover(arguments)
    do throws(ReaderSession.Problem) {
      return try ReaderSession(
        deviceEngagement: engagement, readerKey: readerKey, handover: handover, privateKey: privateKey)
    } catch {
      switch error {
      case .deviceEngagementMalformed, .transcriptMalformed:
        throw .unreadable("--device-engagement: is not a DeviceEngagement")
      case .readerKeyMalformed: throw .unreadable("--e-reader-key: is not a COSE_Key with a public key")
      }
    }
  }

  private static func handover(_ arguments: ParsedArguments) throws(Failure) -> Proximity.Handover {
    guard let name = arguments.value(.handover) else {
      throw .usage("--handover is required where --transcript is not given")
    }
    guard name == "nfc" else {
      try refuse([.nfcSelect, .nfcRequest], beside: .handover, arguments)
      return .qr
    }
    guard arguments.has(.nfcSelect) else { throw .usage("--handover nfc needs --nfc-select") }
    return .nfc(
      select: try part(.nfcSelect, arguments),
      request: arguments.has(.nfcRequest) ? try part(.nfcRequest, arguments) : nil)
  }

  private static func part(_ option: Option, _ arguments: ParsedArguments) throws(Failure) -> [UInt8] {
    guard let path = arguments.value(option) else {
      throw .usage("--\(option.name) is required where --transcript is not given")
    }
    let bytes = try FileAccess.read(path, purpose: option.name)
    // A QR code's text is `mdoc:` and the engagement in base64url (ISO/IEC 18013-5:2021, 8.2.2.3).
    let scheme = Array("mdoc:".utf8)
    return WireBytes(bytes.starts(with: scheme) ? Array(bytes.dropFirst(scheme.count)) : bytes).bytes
  }

  private static func response(_ arguments: ParsedArguments) throws(Failure) -> String {
    guard let path = arguments.value(.response) else { throw .usage("--response or --session-data is required") }
    return path
  }

  private static func refuse(
    _ options: [Option], beside other: Option, _ arguments: ParsedArguments
  ) throws(Failure) {
    guard let option = options.first(where: arguments.has) else { return }
    let value = arguments.value(other).flatMap { other.choices.contains($0) ? " \($0)" : nil } ?? ""
    throw .usage("--\(option.name) does not go together with --\(other.name)\(value)")
  }
}

extension Option {
  fileprivate static let response = Option("response", "FILE", "the DeviceResponse that the wallet sent")
  fileprivate static let sessionData = Option(
    "session-data", "FILE", "the wallet's first SessionData instead, still encrypted; needs --reader-key")
  fileprivate static let transcript = Option("transcript", "FILE", "the SessionTranscript, or SessionTranscriptBytes")
  static let readerKey = Option(
    "reader-key", "FILE", "the reader's ephemeral private key, without which a device MAC is refused")
  fileprivate static let deviceEngagement = Option(
    "device-engagement", "FILE", "the DeviceEngagement, or what the QR code says, in place of --transcript")
  fileprivate static let eReaderKey = Option(
    "e-reader-key", "FILE", "the reader's ephemeral public key as it was sent: a COSE_Key")
  fileprivate static let handover = Option(
    "handover", "KIND", "how device and reader met", choices: ["qr", "nfc"])
  fileprivate static let nfcSelect = Option("nfc-select", "FILE", "the Handover Select message of NFC")
  fileprivate static let nfcRequest = Option(
    "nfc-request", "FILE", "the Handover Request message of NFC, unless the handover was static")
}
