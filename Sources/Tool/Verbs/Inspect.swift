import Base
import CBOR

/// `mdoc inspect`: any CBOR in diagnostic notation, and what a session comes to.
enum InspectCommand {
  static let command = Command(
    "inspect", "show any CBOR in diagnostic notation, with personal values elided, or a session's transcript",
    options: [.showValues] + InspectSession.options + [.json],
    operand: Operand(
      placeholder: "FILE", help: "a file of CBOR: raw, hexadecimal or base64; none with --session", isOptional: true),
    notes: [
      InspectSession.note,
      "Exit status: 0 shown, 1 the file holds no well-formed CBOR or is not the session's answer, 64 usage, 65 a file "
        + "cannot be read.",
    ],
    examples: [
      .init("The structure of a response", "mdoc inspect response.cbor"),
      .init("With all values, the person's included", "mdoc inspect response.cbor --show-values"),
      .init(
        "What an in-app answer is to be made over, to compare",
        """
        mdoc inspect --session apple-in-app --nonce "$NONCE" \\
          --merchant-id merchant.example.shop --team-id ABCDE12345 \\
          --key merchant.pem --envelope answer.b64
        """),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    if arguments.has(.session) { return try InspectSession.run(arguments, console) }
    if let other = InspectSession.options.first(where: arguments.has) {
      throw .usage("--\(other.name) goes with --session")
    }
    guard let path = arguments.operand else { throw .usage("FILE is required, or --session") }
    let file = WireBytes(try FileAccess.readPrefix(path, purpose: "file"))
    let limits = CBORLimits(bytes: FileAccess.limit, items: 1 << 20, depth: 64)
    do throws(CBORError) {
      let item = try CBORItem(parsing: file.bytes, limits: limits)
      let notation = CBORDiagnostic(showsValues: arguments.has(.showValues)).describe(item)
      let certificates = EmbeddedCertificates.found(in: item)
      if arguments.has(.json) {
        console.print(json(file, error: nil, notation: notation, certificates))
      } else {
        console.print(([notation] + certificates.map { $0.text(width: console.width) }).joined(separator: "\n\n"))
      }
      return .done
    } catch {
      if arguments.has(.json) { console.print(json(file, error: error, notation: nil, [])) }
      throw Failure(
        status: .rejected,
        message: "\(path): \(error.code.rawValue) at byte \(error.offset) of \(file.bytes.count) "
          + "(read as \(file.encoding.rawValue)): \(error.code.entry.summary)")
    }
  }

  private static func json(
    _ file: WireBytes, error: CBORError?, notation: String?, _ certificates: [EmbeddedCertificates]
  ) -> JSON {
    [
      "encoding": .string(file.encoding.rawValue), "bytes": .integer(Int64(file.bytes.count)),
      "diagnostic": notation.map { .string($0) } ?? .null, "certificates": .array(certificates.map(\.json)),
      "error": error.map { ["code": .string($0.code.rawValue), "offset": .integer(Int64($0.offset))] } ?? .null,
    ]
  }
}

extension Option {
  static let showValues = Option(
    flag: "show-values", "show element values and byte strings too: they are personal")
}
