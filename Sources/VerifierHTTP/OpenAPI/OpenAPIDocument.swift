import Primitives

/// The contract as OpenAPI 3.1, made from the table of routes.
enum OpenAPIDocument {
  private static let live = json(isLive: true).serialized()
  private static let test = json(isLive: false).serialized()

  /// As it is served; made once.
  static func bytes(isLive: Bool) -> [UInt8] { isLive ? live : test }

  static func json(isLive: Bool) -> JSON {
    [
      "openapi": "3.1.0",
      "info": [
        "title": "mdoc verifier", "version": "1",
        "summary": "Verification of ISO/IEC 18013-5 mobile documents.",
        "description": .string(description),
      ],
      "servers": [["url": "/"]],
      "paths": paths(RouteTable.routes(isLive: isLive)),
      "components": [
        "schemas": .object(OpenAPISchemas.all),
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
    refusal is a problem (RFC 9457) whose `code` is listed with the operation.
    """

  private static func paths(_ routes: [Route]) -> JSON {
    var paths: [(path: String, operations: [JSON.Member])] = []
    for route in routes {
      let member = JSON.Member(route.method.rawValue.lowercased(), operation(route))
      if let index = paths.firstIndex(where: { $0.path == route.path.text }) {
        paths[index].operations.append(member)
      } else {
        paths.append((route.path.text, [member]))
      }
    }
    return .object(paths.map { JSON.Member($0.path, .object($0.operations)) })
  }

  private static func operation(_ route: Route) -> JSON {
    .members([
      "operationId": .string(route.name),
      "summary": .string(route.summary),
      "security": security(route.access),
      "parameters": .array(parameters(route)),
      "requestBody": requestBody(route.body),
      "responses": responses(route),
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

  private static func parameters(_ route: Route) -> [JSON] {
    let path: [JSON] = route.path.variables.map { name in
      ["name": .string(name), "in": "path", "required": true, "schema": ["type": "string"]]
    }
    let query: [JSON] = route.query.map { parameter in
      [
        "name": .string(parameter.name), "in": "query", "description": .string(parameter.summary),
        "schema": parameter.schema,
      ]
    }
    let keyed = route.takesIdempotencyKey ? [idempotencyKey] : []
    return path + query + keyed
  }

  private static let idempotencyKey: JSON = [
    "name": "Idempotency-Key", "in": "header",
    "description": "With an API key: the same request again gets the same reply for 24 hours.",
    "schema": ["type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"],
  ]

  private static func requestBody(_ body: Route.RequestBody) -> JSON? {
    switch body {
    case .none: nil
    case .empty: content(required: false, reference("Nothing"))
    case .json(let schema): content(required: true, reference(schema))
    case .form(let schema): content(required: false, reference(schema), mediaType: FormBody.mediaType)
    }
  }

  private static func content(
    required: Bool, _ schema: JSON, mediaType: String = "application/json"
  ) -> JSON {
    ["required": .bool(required), "content": .object([.init(mediaType, ["schema": schema])])]
  }

  static func reference(_ schema: String) -> JSON { ["$ref": .string("#/components/schemas/\(schema)")] }
}

// MARK: Responses

extension OpenAPIDocument {
  private static func responses(_ route: Route) -> JSON {
    let success = JSON.Member("\(route.success.status)", self.success(route.success))
    let statuses = Set(route.allProblems.map(\.entry.httpStatus)).sorted()
    let problems = statuses.map { status in
      JSON.Member("\(status)", problem(status, route.allProblems.filter { $0.entry.httpStatus == status }))
    }
    return .object([success] + problems)
  }

  private static func success(_ success: Route.Success) -> JSON {
    let schema: JSON =
      switch success.schemas.count {
      case 0: success.mediaType == "application/json" ? ["type": "object"] : ["type": "string"]
      case 1: reference(success.schemas[0])
      default: ["oneOf": .array(success.schemas.map(reference))]
      }
    return [
      "description": "Done.", "headers": requestIDHeader,
      "content": .object([.init(success.mediaType, ["schema": schema])]),
    ]
  }

  /// The schema narrows `code` to what this operation is answered with under this status.
  private static func problem(_ status: Int, _ codes: [Code]) -> JSON {
    let narrowed: JSON = ["properties": ["code": ["enum": .array(codes.map { .string($0.rawValue) })]]]
    return [
      "description": .string(codes.map { "\($0.entry.summary) (`\($0.rawValue)`)." }.joined(separator: " ")),
      "headers": requestIDHeader,
      "content": .object([
        .init(Problem.mediaType, ["schema": ["allOf": [reference("Problem"), narrowed]]])
      ]),
    ]
  }

  private static let requestIDHeader: JSON = [
    "Request-Id": ["description": "Names this request in our log.", "schema": ["type": "string"]]
  ]
}
