import Base
import Mdoc
import Presentation
import Sessions

/// `mdoc verify response`: verifies a DeviceResponse of a proximity session over its transcript.
enum VerifyResponse {
  static let command = Command(
    "response", "verify a DeviceResponse over its session transcript",
    options: TranscriptOptions.all + [.trust, .request, .circuits, .zkEndOfDay, .at, .clockSkew, .strict]
      + RevocationOptions.all + [.json],
    notes: [
      "Files may be raw CBOR, hexadecimal or base64. The transcript is the reader's own, never one that came with "
        + "the answer. Without --request every verified element is shown.",
      TranscriptOptions.note, RevocationOptions.note,
      VerifyCommand.status,
    ],
    examples: [
      .init(
        "A response that is signed by the device",
        "mdoc verify response --response r.cbor --transcript t.cbor --trust anchors/"),
      .init(
        "One with a device MAC, and only what was asked",
        """
        mdoc verify response --response r.hex --transcript t.hex \\
          --reader-key reader.pem --trust iaca.pem --request request.json \\
          --at 2020-12-01T00:00:00Z --json
        """),
      .init(
        "What a reader received, still encrypted, with the parts of its transcript",
        """
        mdoc verify response --session-data message.cbor --reader-key reader.pem \\
          --device-engagement engagement.cbor --e-reader-key key.cbor \\
          --handover nfc --nfc-select hs.bin --nfc-request hr.bin --trust anchors/
        """),
      .init(
        "The signer must not be revoked, by a list that is at hand",
        """
        mdoc verify response --response r.cbor --transcript t.cbor --trust anchors/ \\
          --revocation require_good --list https://iaca.example/crl=iaca.crl
        """),
      .init(
        "A zero-knowledge proof of an age",
        """
        mdoc verify response --response r.cbor --transcript t.cbor --trust anchors/ \\
          --circuits circuits --request request.json
        """),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    var verifier = try VerifyCommand.verifier(arguments)
    let circuits = try CircuitFiles.library(arguments.value(.circuits))
    verifier.proofs = circuits.map { ProofPolicy(circuits: $0, acceptsEndOfDay: arguments.has(.zkEndOfDay)) }
    let request = try RequestFile.request(
      arguments.value(.request), for: .web, circuits: circuits, revocation: verifier.revocation)
    let now = try arguments.time(.at)
    let revocation = try RevocationOptions.source(arguments)
    let authentication = try TranscriptOptions.authenticate(
      arguments, verifier: verifier, request: request, at: now)
    let questions = authentication.questions
    let evidence = await revocation.evidence(for: questions, at: now)
    return VerifyCommand.conclude(authentication.conclude(with: evidence), asked: questions, arguments, console)
  }
}

extension Option {
  fileprivate static let zkEndOfDay = Option(
    flag: "zk-end-of-day", "accept a proof that is stamped with any later time of the day, as Google Wallet's are")
}

/// `mdoc verify apple`: decrypts the envelope that an iPhone gave to an app, and verifies the answer in it.
enum VerifyApple {
  static let command = Command(
    "apple", "verify the answer to Apple's in-app request",
    options: [
      .envelope, .nonce, .merchantID, .teamID, .encryptionKey, .trust, .request, .at, .clockSkew, .strict,
    ] + RevocationOptions.all + [.json],
    notes: [
      "Files of the wallet and the transcript may be raw, hexadecimal or base64. Without --request every verified "
        + "element is shown.",
      RevocationOptions.note,
      VerifyCommand.status,
    ],
    examples: [
      .init(
        "An answer as the app passed it on, at the time it came",
        """
        mdoc verify apple --envelope answer.b64 --nonce "$NONCE" \\
          --merchant-id merchant.example.shop --team-id ABCDE12345 \\
          --key merchant.pem --trust anchors/ --at 2026-11-20T10:00:00Z
        """),
      .init(
        "Only what was asked, for a program to read",
        "mdoc verify apple … --request request.json --json"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let verifier = try VerifyCommand.verifier(arguments)
    let keys = try KeyFile.encryptionKeys(arguments.values(.encryptionKey))
    let request = try RequestFile.request(arguments.value(.request), for: .inApp)
    let now = try arguments.time(.at)
    let nonce = try arguments.nonce(.nonce)
    let merchantID = try arguments.required(.merchantID)
    let teamID = try arguments.required(.teamID)
    let envelope = try WireBytes.answer(at: arguments.required(.envelope))
    guard let challenge = try? AppleChallenge(nonce: nonce, merchantID: merchantID, teamID: teamID) else {
      throw .usage("--nonce must be \(Limits.shortestNonceBytes) to \(Limits.appleNonceBytes) bytes")
    }
    let apple = AppleInApp(verifier: verifier, keys: keys, publishedKey: .warn)
    let revocation = try RevocationOptions.source(arguments)
    let authentication = apple.authenticate(envelope, answering: challenge, request: request, at: now)
    let questions = authentication.questions
    let evidence = await revocation.evidence(for: questions, at: now)
    return VerifyCommand.conclude(authentication.conclude(with: evidence), asked: questions, arguments, console)
  }
}

extension Option {
  fileprivate static let envelope = Option(
    "envelope", "FILE", "the bytes of PKIdentityDocument.encryptedData", occurrence: .required)
  fileprivate static let encryptionKey = Option(
    "key", "FILE", "a private key of the merchant: PEM, or a P-256 scalar in hexadecimal",
    occurrence: .requiredRepeatable)

  static let nonce = Option(
    "nonce", "BYTES", "the nonce of the request, 16 to 64 bytes, in hexadecimal or base64", occurrence: .required)
  static let merchantID = Option("merchant-id", "ID", "the merchant identifier of the app", occurrence: .required)
  static let teamID = Option("team-id", "ID", "the team identifier of the app", occurrence: .required)
}
