import Base
import CBOR
import Cryptography
import Mdoc
import Presentation

/// `mdoc inspect --session`: a session's transcript and the values derived from it, byte for byte. It shows where an
/// app or server that disagrees computes something else. No element of an answer is shown.
enum InspectSession {
  static let options: [Option] = [
    .session, .sessionNonce, .sessionMerchant, .sessionTeam, .sessionKey, .sessionEnvelope,
  ]

  static let note =
    "--session takes --nonce, --merchant-id, --team-id and --key, which is the merchant's certificate or its private key; "
    + "with --envelope it is the private key. It prints sizes and hashes of what the answer's signatures are made over, and "
    + "none of its values; --show-values goes without --session."

  static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    guard arguments.operand == nil, !arguments.has(.showValues) else {
      throw .usage("--session takes neither FILE nor --show-values")
    }
    for option in [Option.sessionNonce, .sessionMerchant, .sessionTeam, .sessionKey] where !arguments.has(option) {
      throw .usage("--\(option.name) is required with --session: \(option.help)")
    }
    let merchant = try arguments.required(.sessionMerchant)
    let team = try arguments.required(.sessionTeam)
    let keyFile = try arguments.required(.sessionKey)
    guard
      let challenge = try? AppleChallenge(
        nonce: arguments.nonce(.sessionNonce), merchantID: merchant, teamID: team)
    else { throw .usage("--nonce must be \(Limits.shortestNonceBytes) to \(Limits.appleNonceBytes) bytes") }
    let inspection = AppleInspection(of: challenge, recipient: try KeyFile.publicKey(keyFile))
    var inputs: [SignatureInputs] = []
    if let file = arguments.value(.sessionEnvelope) {
      let key = try KeyFile.privateKey(keyFile)
      let envelope = try WireBytes.answer(at: file)
      do throws(AppleInspection.Problem) {
        inputs = try inspection.signatureInputs(of: envelope, key: key)
      } catch {
        show(inspection, [], arguments, console)
        let detail = error.detail.map { ": \($0)" } ?? ""
        throw Failure(
          status: .rejected,
          message: "\(file): \(error.code.rawValue)\(detail): \(error.code.entry.summary)")
      }
    }
    show(inspection, inputs, arguments, console)
    return .done
  }

  private static func show(
    _ inspection: AppleInspection, _ inputs: [SignatureInputs], _ arguments: ParsedArguments, _ console: Console
  ) {
    if arguments.has(.json) {
      console.print(json(inspection, inputs))
    } else {
      console.print(text(inspection, inputs, width: console.width))
    }
  }

  /// The transcript in diagnostic notation, with its values: it has no personal data.
  private static func notation(_ transcript: SessionTranscript) -> String {
    guard let item = try? CBORItem(parsing: transcript.encoded) else { return "" }
    return CBORDiagnostic(showsValues: true).describe(item)
  }

  private static func text(_ inspection: AppleInspection, _ inputs: [SignatureInputs], width: Int) -> String {
    let transcript = inspection.transcript
    var rows = [
      ("pkRHash", Hex.encode(inspection.recipientKeyHash)), ("infoHash", Hex.encode(inspection.infoHash)),
    ]
    for (index, input) in inputs.enumerated() {
      let place = inputs.count == 1 ? "" : ", document \(index + 1)"
      rows += [("Issuer Sig_structure" + place, input.issuer), ("Device Sig_structure" + place, input.device)].flatMap {
        [
          ($0.0, $0.1.map { "\($0.count) bytes" } ?? "none"),
          ("  SHA-256", $0.1.map { Hex.encode($0.sha256) } ?? "none"),
        ]
      }
    }
    return [
      "SessionTranscript, \(transcript.encoded.count) bytes", notation(transcript), Hex.encode(transcript.encoded),
      Wrapping.columns(rows, width: max(width, 100)),
    ].joined(separator: "\n\n")
  }

  private static func json(_ inspection: AppleInspection, _ inputs: [SignatureInputs]) -> JSON {
    [
      "transcript": [
        "bytes": .integer(Int64(inspection.transcript.encoded.count)),
        "hex": .string(Hex.encode(inspection.transcript.encoded)),
        "diagnostic": .string(notation(inspection.transcript)),
      ],
      "pk_r_hash": .string(Hex.encode(inspection.recipientKeyHash)),
      "info_hash": .string(Hex.encode(inspection.infoHash)),
      "documents": .array(
        inputs.map { .members(["issuer": json($0.issuer), "device": json($0.device)]) }),
    ]
  }

  private static func json(_ input: SignatureInputs.Input?) -> JSON? {
    input.map { ["bytes": .integer(Int64($0.count)), "sha256": .string(Hex.encode($0.sha256))] }
  }
}

extension Option {
  static let session = Option(
    "session", "PROTOCOL", "show what a session by this protocol comes to", choices: ["apple-in-app"])
  fileprivate static let sessionNonce = Option(
    "nonce", "BYTES", "the nonce of the request, 16 to 64 bytes, in hexadecimal or base64")
  fileprivate static let sessionMerchant = Option("merchant-id", "ID", "the merchant identifier of the app")
  fileprivate static let sessionTeam = Option("team-id", "ID", "the team identifier of the app")
  fileprivate static let sessionKey = Option(
    "key", "FILE", "the merchant's certificate or private key: PEM, or a P-256 scalar in hexadecimal")
  fileprivate static let sessionEnvelope = Option(
    "envelope", "FILE", "an answer: the bytes of PKIdentityDocument.encryptedData")
}
