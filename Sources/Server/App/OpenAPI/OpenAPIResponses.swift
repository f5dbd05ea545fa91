import Base
import Sessions

/// The replies of an operation: its success, and its problems by status.
enum OpenAPIResponses {
  static func json(_ route: Route) -> JSON {
    let success = JSON.Member("\(route.success.status)", success(route))
    let statuses = Set(route.allProblems.map(\.httpStatus)).sorted()
    let problems = statuses.map { status in
      JSON.Member("\(status)", problem(status, route.allProblems.filter { $0.httpStatus == status }, route))
    }
    let other: JSON = [
      "description": "Any other refusal.",
      "content": problemContent(route.allProblems.first ?? .apiInternal, of: route),
    ]
    return .object([success] + problems + [JSON.Member("default", other)])
  }

  private static func success(_ route: Route) -> JSON {
    let success = route.success
    let schema = success.schema.map(Schema.reference) ?? bytes(success.mediaType)
    return .members([
      "description": "Done.",
      "headers": headers(route, route.takesIdempotencyKey ? ["Idempotent-Replayed"] : []),
      "content": .object([
        .init(success.mediaType, .members(["schema": schema.json, "example": OpenAPIExamples.reply(of: route.name)]))
      ]),
      "links": OpenAPILinks.json(route),
    ])
  }

  /// The schema of a reply that is not JSON. JSON Lines are not JSON: each line is, but not all of them together.
  private static func bytes(_ mediaType: String) -> Schema {
    switch mediaType {
    case AuditLine.mediaType:
      ["type": "string", "description": "JSON Lines: an object in each line, which ends with a line feed."]
    case EvidenceBundle.mediaType: ["type": "string", "format": "binary"]
    default: .text
    }
  }

  /// The reply to a problem. All problems share one schema, so that clients have one type; the codes that come with
  /// this status stand beside it.
  private static func problem(_ status: Int, _ codes: [Code], _ route: Route) -> JSON {
    let own: [String] =
      switch status {
      case 401: ["WWW-Authenticate"]
      // Other problems of this status are not about the credential.
      case 403 where codes == [.apiForbidden]: ["WWW-Authenticate"]
      case 429, 503: ["Retry-After"]
      default: []
      }
    return [
      "description": .string(codes.map { "\($0.entry.summary) (`\($0.rawValue)`)." }.joined(separator: " ")),
      "headers": headers(route, own),
      "content": problemContent(codes.first ?? .apiInternal, of: route, status),
      "x-problem-codes": .array(codes.map { .string($0.rawValue) }),
    ]
  }

  /// A problem, with one of this code as an example. A person is told by a page.
  private static func problemContent(_ code: Code, of route: Route, _ status: Int? = nil) -> JSON {
    guard !route.isPage else { return .object([.init(ErrorPage.mediaType, ["schema": Schema.text.json])]) }
    let example = Problem.shape.write((Problem(ServiceError(code)), "req_0123456789abcdef01234567"))
    // A wallet may be told by this status that its response was refused.
    let isFeedback = status == 400 && route.success.schema == "WalletReply"
    return .object(
      [.init(Problem.mediaType, ["schema": Schema.reference("Problem").json, "example": example])]
        + (isFeedback ? [.init(route.success.mediaType, ["schema": Schema.reference("WalletReply").json])] : []))
  }

  // MARK: Headers

  private static func headers(_ route: Route, _ own: [String]) -> JSON {
    let everywhere = ["Request-Id", "Cache-Control", "X-Content-Type-Options"]
    let pages = ["Vary", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers"]
    return .object(
      (everywhere + own + (route.isCrossOrigin || route.isForWallets ? pages : [])).map {
        .init($0, ["$ref": .string("#/components/headers/\($0)")])
      })
  }

  /// `components.headers`.
  static let headers: JSON = [
    "Request-Id": header("Names this request in our log.", .text(like: "^req_[0-9a-f]{24}$")),
    "Cache-Control": header("Nothing is kept on the way.", .text),
    "X-Content-Type-Options": header("The media type is as said.", .text),
    "Retry-After": header("Seconds after which to try again.", ["type": "integer", "minimum": 1]),
    "WWW-Authenticate": header(
      "What is asked for (RFC 6750, 3).", .text(like: "^Bearer realm=\"mdoc\"")),
    "Idempotent-Replayed": header(
      "The reply that was kept under this Idempotency-Key.", .text, isRequired: false),
    "Vary": header("Not on what is refused before it is read.", .text, isRequired: false),
    "Access-Control-Allow-Origin": header(
      "To pages of the relying party, whose call has the session's client secret, and to its `wallet_origins`.", .text,
      isRequired: false),
    "Access-Control-Expose-Headers": header("With the one before.", .text, isRequired: false),
  ]

  private static func header(_ description: String, _ schema: Schema, isRequired: Bool = true) -> JSON {
    ["description": .string(description), "required": .bool(isRequired), "schema": schema.json]
  }
}

/// `webhooks`: the events that the server posts to the relying parties' endpoints.
enum OpenAPIWebhooks {
  /// No operation has this tag: generators make a class of each tag, and this one would replace the events'.
  static let tag: JSON = ["name": "Webhooks", "description": "The events that the server posts to your endpoints."]

  static var json: JSON {
    .object(
      EventType.allCases.map { type in
        JSON.Member(
          type.rawValue,
          [
            "post": [
              "operationId": .string("on_" + type.status.rawValue), "tags": ["Webhooks"],
              "summary": .string("Receive `\(type.rawValue)`"),
              "description": .string(description(type)), "security": [],
              "parameters": .array(headers),
              "requestBody": [
                "required": true, "description": "The event.",
                "content": [
                  "application/json": .members([
                    "schema": Schema.reference("Event").json, "example": OpenAPIExamples.reply(of: type.rawValue),
                  ])
                ],
              ],
              "responses": [
                "2XX": ["description": "Received. The body is not read."],
                "default": ["description": "Not received: the server tries again, with growing pauses."],
              ],
            ]
          ])
      })
  }

  private static func description(_ type: EventType) -> String {
    let what =
      switch type {
      case .verified: "A response was verified. `result` says where the result is."
      case .failed: "A response was rejected; `last_error` has the code."
      case .canceled: "The relying party canceled the session, or the wallet declined."
      case .expired: "Nobody responded in time."
      case .redacted: "The session was erased but for ids, times, status and codes."
      }
    return what + " Verify the signature (Standard Webhooks 1.0.0) before you read the body."
  }

  private static let headers: [JSON] = [
    header("webhook-id", "The event's id, the same in every attempt: ignore an id that you have had."),
    header("webhook-timestamp", "When the attempt was made, in Unix seconds: refuse old ones."),
    header("webhook-signature", "`v1,` and the base64 of an HMAC-SHA256, for each secret of the endpoint."),
  ]

  private static func header(_ name: String, _ description: String) -> JSON {
    [
      "name": .string(name), "in": "header", "required": true, "description": .string(description),
      "schema": Schema.text.json,
    ]
  }
}

/// Replies that the server made, and events that it sent, by the operation's name or the event's type.
enum OpenAPIExamples {
  private static let all = (try? JSON(parsing: PackageResources.Examples_json, values: .max)) ?? .null

  static func reply(of name: String) -> JSON? { all[name] }
}

/// Links from the reply of an operation to the operations that may follow (OpenAPI 3.1, Link Object).
enum OpenAPILinks {
  /// Nil if no operation follows.
  static func json(_ route: Route) -> JSON? {
    switch route.name {
    case "createVerificationSession":
      let sessions = [
        "getVerificationSession", "submitVerificationSession", "cancelVerificationSession", "redactVerificationSession",
      ]
      // The reply does not name the relying party, which these paths need as well.
      let byWallet = ["getWalletRequest", "postWalletRequest", "postWalletResponse"]
      return .object(
        sessions.map { JSON.Member($0, link(to: $0, ["id": "$response.body#/id"])) }
          + byWallet.map { JSON.Member($0, link(to: $0, ["session": "$response.body#/id"])) })
    case "submitVerificationSession":
      return [
        "getVerificationReport": link(to: "getVerificationReport", ["id": "$response.body#/report/id"]),
        "getVerificationSession": link(to: "getVerificationSession", ["id": "$request.path.id"]),
      ]
    case "createMockResponse":
      return [
        "submitVerificationSession": [
          "operationId": "submitVerificationSession", "parameters": ["id": "$request.body#/session"],
          "requestBody": "$response.body",
        ]
      ]
    case "listVerificationSessions":
      return [
        "getVerificationSession": link(to: "getVerificationSession", ["id": "$response.body#/data/0/id"])
      ]
    case "getVerificationSession":
      return ["getVerificationReport": link(to: "getVerificationReport", ["id": "$response.body#/report/id"])]
    case "listEvents": return ["getEvent": link(to: "getEvent", ["id": "$response.body#/data/0/id"])]
    case "listWebhookDeliveries":
      return [
        "retryWebhookDelivery": link(to: "retryWebhookDelivery", ["id": "$response.body#/data/0/id"]),
        "getEvent": link(to: "getEvent", ["id": "$response.body#/data/0/event"]),
      ]
    default: return nil
    }
  }

  private static func link(to operation: String, _ parameters: JSON) -> JSON {
    ["operationId": .string(operation), "parameters": parameters]
  }
}
