import App
import Base
import CBOR
import Sessions

/// `POST /v1/test/diagnostics`: CBOR of a request or of a response, to be read by a person.
enum DiagnosticRoute {
  private struct Body: Equatable {
    let cbor: [UInt8]
    let showsValues: Bool

    static let shape = Shape.object(
      "CreateDiagnostic", "CBOR to be written in diagnostic notation.", Body.init,
      Field("cbor", \.cbor, .base64URL, "The bytes of one CBOR item, in base64url."),
      .optional(
        "show_values", \.showsValues, .flag, or: false, "Whether to show personal values and byte strings too."))
  }

  private static let reply = Shape<String>.open(
    "Diagnostic", "CBOR in words.",
    [.always("diagnostic", { $0 }, .written(), "The item in diagnostic notation (RFC 8949, 8).")])

  /// Personal values and byte strings are elided unless they are asked for, as `mdoc inspect` does. What it is given, it
  /// keeps nowhere.
  static let route = Route(
    method: .post, path: PathTemplate("/v1/test/diagnostics"), name: "createDiagnostic",
    summary: "Write CBOR in diagnostic notation",
    description: "As RFC 8949, 8 does, by default without personal values and byte strings.",
    access: .apiKey([.sessionsWrite]), body: .reading(Body.shape, [example]), success: .json(200, "Diagnostic"),
    problems: [.apiInvalidRequest]
  ) { call throws(ServiceError) in
    let body = try Body.shape.value(of: call.body)
    do throws(CBORError) {
      let item = try CBORItem(parsing: body.cbor)
      return Answer(json: reply.write(CBORDiagnostic(showsValues: body.showsValues).describe(item)))
    } catch {
      throw .invalidMember("/cbor", "\(error.code.rawValue) at byte \(error.offset)")
    }
  }

  private static let example = RequestExample("map", "A map of one member.", ["cbor": "oWd2ZXJzaW9uYzEuMA"])

  static let schemas: [Schema.Member] = [.init("Diagnostic", reply.schema)]
}
