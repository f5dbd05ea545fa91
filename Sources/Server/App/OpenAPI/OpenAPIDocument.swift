import Base

/// The contract as OpenAPI 3.1, made from the table of routes.
enum OpenAPIDocument {
  static func json(with additions: ServerAdditions) -> JSON {
    var components = OpenAPIComponents(OpenAPISchemas.all + additions.schemas)
    let groups = RouteTable.documented(with: additions)
    let paths = components.lift(paths(groups))
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "mdoc verifier", "version": "1",
        "summary": "Verification of ISO/IEC 18013-5 mobile documents.",
        "description": .string(description),
      ],
      "servers": [["url": "/"]],
      "tags": .array(
        groups.map { ["name": .string($0.tag), "description": .string($0.summary)] }),
      "paths": paths,
      "components": [
        "schemas": .object(components.schemas), "headers": OpenAPIResponses.headers,
        "securitySchemes": [
          "api_key": ["type": "http", "scheme": "bearer", "description": "An API key of a relying party."],
          "client_secret": [
            "type": "http", "scheme": "bearer",
            "description": "The `client_secret` of the session in the path; it sees less.",
          ],
        ],
      ],
    ]
  }

  private static let description = """
    Times are Unix seconds. Unknown members and query parameters are refused. Every reply has a `Request-Id`; every \
    refusal is a `Problem` (RFC 9457) whose `code` is listed with the operation, also in `x-problem-codes`.
    """

  private static func paths(_ groups: [RouteGroup]) -> JSON {
    var paths: [(path: String, operations: [JSON.Member])] = []
    for (route, tag) in groups.flatMap({ group in group.routes.map { ($0, group.tag) } }) {
      let member = JSON.Member(route.method.rawValue.lowercased(), operation(route, tag))
      if let index = paths.firstIndex(where: { $0.path == route.path.text }) {
        paths[index].operations.append(member)
      } else {
        paths.append((route.path.text, [member]))
      }
    }
    return .object(paths.map { JSON.Member($0.path, .object($0.operations)) })
  }

  private static func operation(_ route: Route, _ tag: String) -> JSON {
    .members([
      "operationId": .string(route.name),
      "tags": [.string(tag)],
      "summary": .string(route.summary),
      "security": security(route.access),
      "parameters": OpenAPIParameters.json(route),
      "requestBody": requestBody(route.body),
      "responses": OpenAPIResponses.json(route),
    ])
  }

  private static func security(_ access: Access) -> JSON {
    let scopes: JSON = .array(access.scopes.map { .string($0.rawValue) })
    return switch access {
    case .anyone: []
    case .apiKey: [["api_key": scopes]]
    case .apiKeyOrClientSecret: [["api_key": scopes], ["client_secret": []]]
    // Or none at all, from a loopback peer.
    case .operators: [["api_key": scopes], [:]]
    }
  }

  private static func requestBody(_ body: Route.RequestBody) -> JSON? {
    switch body {
    case .none: nil
    case .empty: content(required: false, reference("Nothing"))
    case .json(let schema, let isRequired):
      content(
        required: isRequired, reference(schema),
        examples: schema == "CreateVerificationSession" ? CreateSessionSchemas.examples : nil)
    case .form(let schema): content(required: false, reference(schema), mediaType: FormBody.mediaType)
    }
  }

  private static func content(
    required: Bool, _ schema: JSON, mediaType: String = "application/json", examples: JSON? = nil
  ) -> JSON {
    let media = JSON.members(["schema": schema, "examples": examples])
    return ["required": .bool(required), "content": .object([.init(mediaType, media)])]
  }

  static func reference(_ schema: String) -> JSON { ["$ref": .string("#/components/schemas/\(schema)")] }
}
