import Base
import Cryptography
import Mdoc
import Presentation
import Sessions

enum VerifyResponse {
  static let command = Command(
    "response", "verify a DeviceResponse over its session transcript",
    options: TranscriptOptions.all + [.trust, .request, .circuits, .zkEndOfDay, .at, .clockSkew, .strict]
      + RevocationOptions.all + VerifyCommand.output,
    notes: [
      "Files may be raw CBOR, hexadecimal or base64. Use the reader's own transcript, never one that came with the "
        + "response. Without --request every verified element is shown.", TranscriptOptions.note,
      RevocationOptions.note, VerifyCommand.status,
    ],
    examples: [
      .init(
        "Verify a response with a device signature",
        "mdoc verify response --response r.cbor --transcript t.cbor --trust anchors/"),
      .init(
        "Verify a device MAC, and show only requested elements",
        """
        mdoc verify response --response r.hex --transcript t.hex \\
          --reader-key reader.pem --trust iaca.pem --request request.json \\
          --at 2020-12-01T00:00:00Z --json
        """),
      .init(
        "Decrypt a reader's message, with the parts of its transcript",
        """
        mdoc verify response --session-data message.cbor --reader-key reader.pem \\
          --device-engagement engagement.cbor --e-reader-key key.cbor \\
          --handover nfc --nfc-select hs.bin --nfc-request hr.bin --trust anchors/
        """),
      .init(
        "Require a good revocation status from a given list",
        """
        mdoc verify response --response r.cbor --transcript t.cbor --trust anchors/ \\
          --revocation require_good --list https://iaca.example/crl=iaca.crl
        """),
      .init(
        "Verify a zero-knowledge proof of an age",
        """
        mdoc verify response --response r.cbor --transcript t.cbor --trust anchors/ \\
          --circuits circuits --request request.json
        """),
    ], action: run)

  private static func run(_ arguments: Arguments) async throws(Failure) -> ExitStatus {
    var verifier = try VerifyCommand.verifier(arguments)
    let circuits = try arguments.circuitLibrary()
    verifier.proofs = circuits.map { ProofPolicy(circuits: $0, acceptsEndOfDay: arguments.has(.zkEndOfDay)) }
    let request = try arguments.request(for: .web, circuits: circuits, revocation: verifier.revocation)
    let now = try arguments.time(.at)
    let authentication = try TranscriptOptions.authenticate(arguments, verifier: verifier, request: request, at: now)
    return try await VerifyCommand.conclude(
      authentication, of: request, files: TranscriptOptions.files, at: now, arguments)
  }
}

extension Option {
  fileprivate static let zkEndOfDay = Option(
    flag: "zk-end-of-day", "accept a proof with any later time of the same day, as from Google Wallet")
}

enum VerifyApple {
  static let command = Command(
    "apple", "verify the response to Apple's in-app request",
    options: [.envelope, .nonce, .merchantID, .teamID, .encryptionKey, .trust, .request, .at, .clockSkew, .strict]
      + RevocationOptions.all + VerifyCommand.output,
    notes: [
      "Files of the wallet and the transcript may be raw, hexadecimal or base64. Without --request every verified "
        + "element is shown.", RevocationOptions.note, VerifyCommand.status,
    ],
    examples: [
      .init(
        "Verify an app's response at the time of its arrival",
        """
        mdoc verify apple --envelope response.b64 --nonce "$NONCE" \\
          --merchant-id merchant.example.shop --team-id ABCDE12345 \\
          --key merchant.pem --trust anchors/ --at 2026-11-20T10:00:00Z
        """),
      .init(
        "Print only the requested elements, as JSON",
        "mdoc verify apple … --request request.json --json"),
    ],
    action: run)

  private static func run(_ arguments: Arguments) async throws(Failure) -> ExitStatus {
    let verifier = try VerifyCommand.verifier(arguments)
    let keys = try KeyFile.encryptionKeys(arguments.values(.encryptionKey))
    let request = try arguments.request(for: .inApp)
    let now = try arguments.time(.at)
    let challenge = try arguments.appleChallenge()
    let envelope = try WireBytes.response(at: arguments.required(.envelope))
    let apple = AppleInApp(verifier: verifier, keys: keys, publishedKey: .warn)
    let authentication = apple.authenticate(envelope, answering: challenge, request: request, at: now)
    return try await VerifyCommand.conclude(authentication, of: request, files: [.envelope], at: now, arguments)
  }
}

extension Option {
  fileprivate static let envelope = Option(
    "envelope", "FILE", "the bytes of PKIdentityDocument.encryptedData", occurrence: .required)
  fileprivate static let encryptionKey = Option(
    "key", "FILE", "a private key of the merchant: PEM, or a P-256 scalar in hexadecimal or base64url",
    occurrence: .requiredRepeatable)

  static let nonce = Option(
    "nonce", "BYTES", "the nonce of the request, 16 to 64 bytes, in hexadecimal or base64", occurrence: .required)
  static let merchantID = Option("merchant-id", "ID", "the merchant identifier of the app", occurrence: .required)
  static let teamID = Option("team-id", "ID", "the team identifier of the app", occurrence: .required)
}

extension Arguments {
  func appleChallenge() throws(Failure) -> AppleChallenge {
    let (bytes, merchant, team) = (try nonce(.nonce), try required(.merchantID), try required(.teamID))
    do { return try AppleChallenge(nonce: bytes, merchantID: merchant, teamID: team) } catch {
      throw .usage("--nonce must be \(Limits.shortestNonceBytes) to \(Limits.appleNonceBytes) bytes")
    }
  }
}

/// The options for a reader's session: the response, and the transcript as one file or in parts.
enum TranscriptOptions {
  static let all: [Option] = [.response, .sessionData] + session + [.readerKey]

  /// The options for a transcript.
  static let session: [Option] = [.transcript] + parts

  /// The options for a wallet's file, and for files of the transcript.
  static let files: [Option] = [
    .response, .sessionData, .transcript, .deviceEngagement, .eReaderKey, .nfcSelect, .nfcRequest,
  ]

  private static let parts: [Option] = [.deviceEngagement, .eReaderKey, .handover, .nfcSelect, .nfcRequest]

  static let note =
    "Instead of --transcript you can give its parts: the DeviceEngagement, the reader's ephemeral public key as it "
    + "was sent, and the handover. The report then shows if the device used another handover, and --session-data can "
    + "replace --response by the device's encrypted message."

  /// Authenticates the response of `--response` or `--session-data`.
  static func authenticate(
    _ arguments: Arguments, verifier: MdocVerifier, request: PresentationRequest?, at now: Timestamp
  ) throws(Failure) -> Authentication {
    let proximity = Proximity(verifier: verifier)
    /// The reader's private key. A raw scalar belongs to the curve of the session's reader key.
    func readerKey(_ session: ReaderSession?) throws(Failure) -> PrivateKey? {
      try arguments.value(.readerKey).map { path throws(Failure) in
        try KeyFile.privateKey(path, on: session?.readerKey.curve ?? .p256)
      }
    }
    if let path = arguments.value(.transcript) {
      let transcript = try SessionTranscript.inFile(path)
      try refuse(parts, beside: .transcript, arguments)
      try refuse([.sessionData], beside: .transcript, arguments)
      return proximity.authenticate(
        try WireBytes.response(at: try response(arguments)), transcript: transcript,
        readerKey: try readerKey(try? ReaderSession(transcript: transcript.encoded, privateKey: nil)), request: request,
        at: now)
    }
    let session = try session(arguments, readerKey(session(arguments, nil)))
    guard let path = arguments.value(.sessionData) else {
      return proximity.authenticate(
        .deviceResponse(try WireBytes.response(at: try response(arguments))), in: session, request: request, at: now)
    }
    try refuse([.response], beside: .sessionData, arguments)
    guard arguments.has(.readerKey) else { throw .usage("--session-data needs --reader-key, which opens it") }
    return proximity.authenticate(
      .sessionData(try WireBytes.response(at: path)), in: session, request: request, at: now)
  }

  /// The transcript that the options specify.
  static func transcript(_ arguments: Arguments) throws(Failure) -> SessionTranscript {
    guard let path = arguments.value(.transcript) else { return try session(arguments, nil).transcript }
    try refuse(parts, beside: .transcript, arguments)
    return try SessionTranscript.inFile(path)
  }

  private static func session(_ arguments: Arguments, _ privateKey: PrivateKey?) throws(Failure) -> ReaderSession {
    let engagement = try part(.deviceEngagement, arguments)
    let readerKey = try part(.eReaderKey, arguments)
    let handover = try handover(arguments)
    do throws(ReaderSessionError) {
      return try ReaderSession(
        deviceEngagement: engagement, readerKey: readerKey, handover: handover, privateKey: privateKey)
    } catch {
      switch error {
      case .deviceEngagementMalformed, .transcriptMalformed:
        throw .unreadable("--device-engagement: must be a DeviceEngagement")
      case .readerKeyMalformed: throw .unreadable("--e-reader-key: must be a COSE_Key with a public key")
      }
    }
  }

  private static func handover(_ arguments: Arguments) throws(Failure) -> Proximity.Handover {
    guard let name = arguments.value(.handover) else {
      throw .usage("--handover is required without --transcript")
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

  private static func part(_ option: Option, _ arguments: Arguments) throws(Failure) -> [UInt8] {
    guard let path = arguments.value(option) else {
      throw .usage("--\(option.name) is required without --transcript")
    }
    let bytes = try FileAccess.read(path, purpose: option.name)
    // A QR code's text is `mdoc:` and the engagement in base64url (ISO/IEC 18013-5:2021, 8.2.2.3).
    let scheme = Array("mdoc:".utf8)
    return WireBytes(bytes.starts(with: scheme) ? Array(bytes.dropFirst(scheme.count)) : bytes).bytes
  }

  private static func response(_ arguments: Arguments) throws(Failure) -> String {
    guard let path = arguments.value(.response) else { throw .usage("--response or --session-data is required") }
    return path
  }

  private static func refuse(_ options: [Option], beside other: Option, _ arguments: Arguments) throws(Failure) {
    guard let option = options.first(where: arguments.has) else { return }
    let value = arguments.value(other).flatMap { other.choices.contains($0) ? " \($0)" : nil } ?? ""
    throw .usage("--\(option.name) excludes --\(other.name)\(value)")
  }
}

extension Option {
  fileprivate static let response = Option("response", "FILE", "the DeviceResponse that the wallet sent")
  fileprivate static let sessionData = Option(
    "session-data", "FILE", "the wallet's first SessionData instead, still encrypted; needs --reader-key")
  fileprivate static let transcript = Option("transcript", "FILE", "the SessionTranscript, or SessionTranscriptBytes")
  static let readerKey = Option(
    "reader-key", "FILE",
    "the reader's ephemeral private key, which a device MAC needs: PEM, or its scalar in hexadecimal or base64url")
  fileprivate static let deviceEngagement = Option(
    "device-engagement", "FILE", "the DeviceEngagement, or the text of the QR code, instead of --transcript")
  fileprivate static let eReaderKey = Option(
    "e-reader-key", "FILE", "the reader's ephemeral public key as it was sent: a COSE_Key")
  fileprivate static let handover = Option("handover", "KIND", "how device and reader met", choices: ["qr", "nfc"])
  fileprivate static let nfcSelect = Option("nfc-select", "FILE", "the Handover Select message of NFC")
  fileprivate static let nfcRequest = Option(
    "nfc-request", "FILE", "the Handover Request message of NFC, unless the handover was static")
}
