import App
import Base
import CBOR
import Sessions

/// `POST /v1/test/diagnostics`: CBOR of a request or of an answer, to be read by a person.
enum DiagnosticRoute {
  /// Personal values and byte strings are elided unless they are asked for, as `mdoc inspect` does. What it is given, it
  /// keeps nowhere.
  static let route = Route(
    method: .post, path: PathTemplate("/v1/test/diagnostics"), name: "createDiagnostic",
    summary: "Write CBOR in diagnostic notation",
    description: "As RFC 8949, 8 does, by default without personal values and byte strings.",
    access: .apiKey([.sessionsWrite]), body: .json(schema: "CreateDiagnostic"), success: .json(200, "Diagnostic"),
    problems: [.apiInvalidRequest]
  ) { call throws(ServiceError) in
    guard let members = call.body.object else { throw .invalidMember("", "must be an object") }
    let unknown = members.filter { !["cbor", "show_values"].contains($0.name) }
    guard unknown.isEmpty else { throw .unknownMembers(unknown) }
    guard let bytes = call.body["cbor"]?.string.flatMap(Base64.decodeURLSafe) else {
      throw .invalidMember("/cbor", "must be base64url, without padding or white space")
    }
    let choice = call.body["show_values"] ?? false
    guard let showsValues = choice.bool else { throw .invalidMember("/show_values", "must be true or false") }
    do throws(CBORError) {
      let item = try CBORItem(parsing: bytes)
      return Answer(json: ["diagnostic": .string(CBORDiagnostic(showsValues: showsValues).describe(item))])
    } catch {
      throw .invalidMember("/cbor", "\(error.code.rawValue) at byte \(error.offset)")
    }
  }

  static let schemas: [Schema.Member] = [
    .init(
      "CreateDiagnostic",
      .object(
        [
          "cbor": .text.described("The bytes in base64url."),
          "show_values": Schema(["type": "boolean", "default": false]),
        ], optional: ["show_values"])),
    .init("Diagnostic", .object(["diagnostic": .text])),
  ]
}
