import Base
import Sessions

package enum OpenAPIVersion: String, CaseIterable, Sendable {
  case current = "3.1"
  case older = "3.0"
}

/// The contract as OpenAPI 3.1, made from the table of routes.
enum OpenAPIDocument {
  static func json(with additions: ServerAdditions) -> JSON {
    var components = OpenAPIComponents(OpenAPISchemas.all + additions.schemas)
    let groups = RouteTable.documented(with: additions)
    let paths = components.lift(paths(groups))
    let webhooks = components.lift(OpenAPIWebhooks.json)
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "mdoc verifier", "version": "1",
        "summary": "Verification of ISO/IEC 18013-5 mobile documents.",
        "description": .string(description),
      ],
      "servers": [["url": "/", "description": "The server that serves this document."]],
      "tags": .array(
        groups.map { ["name": .string($0.tag), "description": .string($0.summary)] } + [OpenAPIWebhooks.tag]),
      "paths": paths,
      "webhooks": webhooks,
      "components": [
        "schemas": .object(components.schemas), "headers": OpenAPIResponses.headers,
        "securitySchemes": [
          "api_key": ["type": "http", "scheme": "bearer", "description": "An API key of a relying party."],
          "client_secret": [
            "type": "http", "scheme": "bearer",
            "description": "The `client_secret` of the session in the path. It shows fewer members than an API key.",
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
      "description": .string(route.description),
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
    // A loopback peer needs no credential.
    case .operators: [["api_key": scopes], [:]]
    }
  }

  private static func requestBody(_ body: Route.RequestBody) -> JSON? {
    switch body {
    // An empty object is accepted, but is not required.
    case .none, .empty: nil
    case .json(let schema, let isRequired, let examples): content(required: isRequired, schema, examples: examples)
    case .form(let schema, let example):
      content(required: false, schema, mediaType: FormBody.mediaType, examples: [example])
    }
  }

  private static func content(
    required: Bool, _ schema: Schema, mediaType: String = "application/json", examples: [RequestExample] = []
  ) -> JSON {
    let shown = examples.map {
      JSON.Member($0.name, ["summary": .string($0.summary), "value": $0.value])
    }
    let media = JSON.members(["schema": schema.json, "examples": shown.isEmpty ? nil : .object(shown)])
    return [
      "description": .string("The body, of `\(mediaType)`" + (required ? "." : "; it may be absent.")),
      "required": .bool(required), "content": .object([.init(mediaType, media)]),
    ]
  }
}

/// The parameters of an operation: the variables of its path, its query and its headers.
enum OpenAPIParameters {
  static func json(_ route: Route) -> JSON {
    let path = route.path.variables.map { name -> JSON in
      [
        "name": .string(name), "in": "path", "required": true,
        "description": .string(descriptions[name] ?? "The id in the path."),
        "schema": schema(ofVariable: name, in: route.path.text).json,
      ]
    }
    let query = route.query.map { parameter -> JSON in
      .members([
        "name": .string(parameter.name), "in": "query", "description": .string(parameter.summary),
        "required": parameter.isRequired ? true : nil,
        // An enumeration becomes a component, which has its own description.
        "schema": (parameter.schema["title"] == nil ? parameter.schema : parameter.schema.described(parameter.summary))
          .json,
      ])
    }
    let keyed = route.takesIdempotencyKey ? [idempotencyKey] : []
    return .array(path + query + keyed)
  }

  private static let descriptions = [
    "relying_party": "The relying party's id.", "code": "The code, such as `api.not_found`.",
  ]

  /// The schema of a path variable. A path with a value outside this schema is not found.
  private static func schema(ofVariable name: String, in path: String) -> Schema {
    let ids: KeyValuePairs = [
      "/v1/verification_sessions/{id}": SessionID.pattern, "/v1/verification_reports/{id}": ReportID.pattern,
      "/v1/events/{id}": EventID.pattern, "/v1/webhook_deliveries/{id}": DeliveryID.pattern,
      "/v1/wallet/{relying_party}/{session}": WalletPath.pattern,
    ]
    let id = ids.first { path.hasPrefix($0.key) && name != "relying_party" }
    return .text(like: id?.value ?? "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$")
  }

  private static let idempotencyKey: JSON = [
    "name": "Idempotency-Key", "in": "header",
    "description":
      "Your own key for this request; only with an API key. For 24 hours, a retry with it gets the same reply.",
    "schema": ["type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"],
  ]
}

/// Collects the component schemas while the document is made. Code generators name types after components. Every schema
/// with a title therefore becomes a component. A reference replaces the schema where it is used.
struct OpenAPIComponents {
  private(set) var schemas: [JSON.Member] = []
  private var titles: [String] = []
  private let prefix: String

  /// - Parameters:
  ///   - named: the schemas by name. Each name becomes its schema's title.
  ///   - prefix: the path before a schema's name in references.
  init(_ named: [Schema.Member], at prefix: String = "#/components/schemas/") {
    self.prefix = prefix
    for member in named { _ = lift(member.schema.titled(member.name).json) }
  }

  /// The schemas in order: each comes before the schemas nested in it.
  var outermostFirst: [JSON.Member] {
    titles.compactMap { title in schemas.first { $0.name == title } }
  }

  /// Makes components of all schemas with a title. Returns the JSON with references in place of these schemas.
  mutating func lift(_ json: JSON) -> JSON {
    switch json {
    case .object(let members):
      if let title = json["title"]?.string, !titles.contains(title) { titles.append(title) }
      // This reference contains its target. Make the target a component, and keep the members beside the reference.
      if members.first?.name == "$ref", let target = members.first?.value, target.object != nil {
        return .object((lift(target).object ?? []) + members.dropFirst())
      }
      // An example beside a schema is a value, so it contains no schemas.
      let isBody = members.contains { $0.name == "schema" }
      let lifted = JSON.object(
        members.map { member in
          isBody && member.name.hasPrefix("example") ? member : JSON.Member(member.name, lift(member.value))
        })
      // A `title` that is not text is a property of that name. Its value is a schema.
      guard let title = lifted["title"]?.string else { return lifted }
      add(title, lifted)
      return ["$ref": .string(prefix + title)]
    case .array(let elements): return .array(elements.map { lift($0) })
    default: return json
    }
  }

  /// Adds a component. If it may be null in one use, it may be null in all: generators make one nullable type of it.
  private mutating func add(_ title: String, _ schema: JSON) {
    guard let index = schemas.firstIndex(where: { $0.name == title }) else {
      schemas.append(JSON.Member(title, schema))
      return
    }
    let known = schemas[index].value
    if known == schema || known == Schema(schema).orNull.json { return }
    // This cannot fail at run time. All schemas are constants, and a test makes the document from them.
    precondition(schema == Schema(known).orNull.json, "two schemas have the title \(title)")
    schemas[index] = JSON.Member(title, schema)
  }
}

/// The component schemas of replies. The schema of a request body is defined with its route. Each schema has a title,
/// so that the generated type has a name.
enum OpenAPISchemas {
  static let all: [Schema.Member] =
    (ReplySchemas.all + WalletRequestSchemas.all + TrustRoutes.schemas + OperationRoutes.schemas + [
      ConfigurationRoutes.load.schema, Problem.shape.schema,
    ])
    .map { Schema.Member($0["title"]?.string ?? "", $0) }
}

/// The contract as OpenAPI 3.0.3, for tools that do not support later versions. It expresses the same meaning in older
/// keywords.
enum OpenAPIDowngrade {
  static func json(_ document: JSON) -> JSON {
    .object(
      (plain(document).object ?? []).map { member in
        switch member.name {
        case "openapi": JSON.Member("openapi", "3.0.3")
        case "webhooks": JSON.Member("x-webhooks", member.value)
        case "info": JSON.Member("info", .object((member.value.object ?? []).filter { $0.name != "summary" }))
        default: member
        }
      })
  }

  private static func plain(_ json: JSON) -> JSON {
    switch json {
    case .array(let elements): .array(elements.map(plain))
    case .object(let members): .object(object(members))
    default: json
    }
  }

  private static func object(_ members: [JSON.Member]) -> [JSON.Member] {
    // A reference in 3.0.3 cannot have siblings. A property named `$ref` is not a reference.
    if let reference = members.first(where: { $0.name == "$ref" && $0.value.string != nil }), members.count > 1 {
      return [JSON.Member("allOf", [.object([reference])])]
        + members.filter { $0.name != "$ref" }.flatMap(keyword)
    }
    return members.flatMap(keyword)
  }

  /// The keyword's equivalent in 3.0.3; empty if there is none.
  private static func keyword(_ member: JSON.Member) -> [JSON.Member] {
    switch member.name {
    case "type" where member.value.array != nil:
      let types = (member.value.array ?? []).filter { $0 != "null" }
      return types.map { JSON.Member("type", $0) } + [JSON.Member("nullable", true)]
    // Examples of a schema are an array. Examples of a body are an object in both versions.
    case "examples" where member.value.array != nil:
      return (member.value.array ?? []).prefix(1).map { JSON.Member("example", $0) }
    // Examples are values: nothing in them is a keyword.
    case "example", "examples", "enum", "default": return [member]
    // The names of properties are not keywords.
    case "properties":
      return [
        JSON.Member(member.name, .object((member.value.object ?? []).map { JSON.Member($0.name, plain($0.value)) }))
      ]
    case "contains", "contentEncoding", "contentMediaType", "propertyNames", "$comment": return []
    default: return [JSON.Member(member.name, plain(member.value))]
    }
  }
}
