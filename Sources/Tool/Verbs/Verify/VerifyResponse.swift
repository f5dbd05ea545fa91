/// `mdoc verify response`: a DeviceResponse over a session transcript, as a reader in person has them.
enum VerifyResponse {
  static let command = Command(
    "response", "verify a DeviceResponse over its session transcript",
    options: TranscriptOptions.all + [.trust, .request, .at, .clockSkew, .strict] + RevocationOptions.all + [.json],
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
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) async throws(Failure) -> ExitStatus {
    let verifier = try VerifyCommand.verifier(arguments)
    let request = try RequestFile.request(arguments.value(.request), for: .web)
    let now = try arguments.time(.at)
    let revocation = try RevocationOptions.source(arguments)
    let authentication = try TranscriptOptions.authenticate(
      arguments, verifier: verifier, request: request, at: now)
    let questions = authentication.questions
    let evidence = await revocation.evidence(for: questions, at: now)
    return VerifyCommand.conclude(authentication.conclude(with: evidence), asked: questions, arguments, console)
  }
}
