import Presentation

/// `mdoc verify response`: a DeviceResponse over a session transcript, as a reader in person has them.
enum VerifyResponse {
  static let command = Command(
    "response", "verify a DeviceResponse over its session transcript",
    options: [.response, .transcript, .readerKey, .trust, .request, .at, .clockSkew, .strict] + RevocationOptions.all
      + [.json],
    notes: [
      "Both files may be raw CBOR, hexadecimal or base64. The transcript is the reader's own, never one that came with "
        + "the answer. Without --request every verified element is shown.",
      RevocationOptions.note,
      "Exit status: 0 verified, 1 rejected or declined, 64 usage, 65 one of your files cannot be read.",
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
        "The signer must not be revoked, by a list that is at hand",
        """
        mdoc verify response --response r.cbor --transcript t.cbor --trust anchors/ \\
          --revocation require_good --list https://iaca.example/crl=iaca.crl
        """),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let verifier = try VerifyCommand.verifier(arguments)
    let transcript = try TranscriptFile.transcript(arguments.required(.transcript))
    let readerKey = try arguments.value(.readerKey).map { path throws(Failure) in try KeyFile.privateKey(path) }
    let request = try RequestFile.request(arguments.value(.request), for: .web)
    let now = try arguments.time(.at)
    let response = try WireBytes.answer(at: arguments.required(.response))
    let revocation = try RevocationOptions.source(arguments)
    let authentication = Proximity(verifier: verifier).authenticate(
      response, transcript: transcript, readerKey: readerKey, request: request, at: now)
    let questions = authentication.questions
    let evidence = await revocation.evidence(for: questions, at: now)
    return VerifyCommand.conclude(authentication.conclude(with: evidence), asked: questions, arguments, console)
  }
}

extension Option {
  fileprivate static let response = Option(
    "response", "FILE", "the DeviceResponse that the wallet sent", occurrence: .required)
  fileprivate static let transcript = Option(
    "transcript", "FILE", "the SessionTranscript, or SessionTranscriptBytes", occurrence: .required)
  static let readerKey = Option(
    "reader-key", "FILE", "the reader's ephemeral private key, without which a device MAC is refused")
}
