import Base
import Sessions

/// The parameters of an operation: what is variable in its path, its query, its headers.
enum OpenAPIParameters {
  static func json(_ route: Route) -> JSON {
    let path = route.path.variables.map { name -> JSON in
      ["name": .string(name), "in": "path", "required": true, "schema": schema(ofVariable: name, in: route.path.text)]
    }
    let query = route.query.map { parameter -> JSON in
      .members([
        "name": .string(parameter.name), "in": "query", "description": .string(parameter.summary),
        "required": parameter.isRequired ? true : nil, "schema": parameter.schema,
      ])
    }
    let keyed = route.takesIdempotencyKey ? [idempotencyKey] : []
    return .array(path + query + keyed)
  }

  /// What names can look like; what looks otherwise is not found.
  private static func schema(ofVariable name: String, in path: String) -> JSON {
    let ids: KeyValuePairs = [
      "/v1/verification_sessions/{id}": SessionID.pattern, "/v1/verification_reports/{id}": ReportID.pattern,
      "/v1/events/{id}": EventID.pattern, "/v1/webhook_deliveries/{id}": DeliveryID.pattern,
      "/v1/wallet/{relying_party}/{session}": SessionID.pattern,
    ]
    let id = ids.first { path.hasPrefix($0.key) && name != "relying_party" }
    return OpenAPISchemas.text(like: id?.value ?? "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$")
  }

  private static let idempotencyKey: JSON = [
    "name": "Idempotency-Key", "in": "header",
    "description": "With an API key: the same request again gets the same reply for 24 hours.",
    "schema": ["type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"],
  ]
}
