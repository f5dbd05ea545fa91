import CBOR
import Primitives

/// `mdoc inspect`: any CBOR in diagnostic notation.
enum InspectCommand {
  static let command = Command(
    "inspect", "show any CBOR in diagnostic notation, with personal values elided",
    options: [.showValues, .json],
    operand: Operand(placeholder: "FILE", help: "a file of CBOR: raw, hexadecimal or base64"),
    notes: ["Exit status: 0 shown, 1 the file holds no well-formed CBOR, 65 it cannot be read."],
    examples: [
      .init("The structure of a response", "mdoc inspect response.cbor"),
      .init("With all values, the person's included", "mdoc inspect response.cbor --show-values"),
    ],
    action: run)

  private static func run(_ arguments: ParsedArguments, _ console: Console) throws(Failure) -> ExitStatus {
    let path = arguments.operand ?? ""
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
  fileprivate static let showValues = Option(
    flag: "show-values", "show element values and byte strings too: they are personal")
}
