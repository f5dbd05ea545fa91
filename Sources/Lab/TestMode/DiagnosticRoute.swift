import App
import Base
import CBOR
import Sessions

/// `POST /v1/test/diagnostics`: CBOR of a request or of an answer, to be read by a person.
enum DiagnosticRoute {
  /// With values, which are a mock person's. What it is given, it keeps nowhere.
  static let route = Route(
    method: .post, path: PathTemplate("/v1/test/diagnostics"), name: "createDiagnostic",
    summary: "CBOR in diagnostic notation (RFC 8949, 8), with all values.",
    access: .apiKey([.sessionsWrite]), body: .json(schema: "CreateDiagnostic"), success: .json(200, "Diagnostic"),
    problems: [.apiInvalidRequest]
  ) { call throws(ServiceError) in
    guard let members = call.body.object else { throw fault("", "must be an object") }
    let unknown = members.filter { $0.name != "cbor" }
    guard unknown.isEmpty else { throw .unknownMembers(unknown) }
    guard let bytes = call.body["cbor"]?.string.flatMap(Base64.decodeURLSafe) else {
      throw fault("/cbor", "must be base64url, without padding or white space")
    }
    do throws(CBORError) {
      let item = try CBORItem(parsing: bytes)
      return Answer(json: ["diagnostic": .string(CBORDiagnostic(showsValues: true).describe(item))])
    } catch {
      throw fault("/cbor", "\(error.code.rawValue) at byte \(error.offset)")
    }
  }

  static let schemas: [Schema.Member] = [
    .init("CreateDiagnostic", .object(["cbor": .text.described("The bytes in base64url.")])),
    .init("Diagnostic", .object(["diagnostic": .text])),
  ]

  private static func fault(_ pointer: String, _ detail: String) -> ServiceError {
    ServiceError(.apiInvalidRequest, pointers: [.init(pointer: pointer, detail: detail)])
  }
}
