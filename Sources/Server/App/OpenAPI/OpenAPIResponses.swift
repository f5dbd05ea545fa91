import Base
import Sessions

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

  /// The schema of a reply that is not JSON. In JSON Lines, each line is JSON but the whole body is not.
  private static func bytes(_ mediaType: String) -> Schema {
    switch mediaType {
    case AuditLine.mediaType:
      ["type": "string", "description": "JSON Lines: one object a line, each ended by a line feed."]
    case EvidenceBundle.mediaType: ["type": "string", "format": "binary"]
    default: .text
    }
  }

  /// The description of a reply that contains a problem. All problems share one schema, so that clients have one type.
  private static func problem(_ status: Int, _ codes: [Code], _ route: Route) -> JSON {
    let own: [String] =
      switch status {
      case 401: ["WWW-Authenticate"]
      // The operation's other problems with status 403 do not concern the credential.
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

  /// A problem with an example of this code; for a page's route, an HTML page.
  private static func problemContent(_ code: Code, of route: Route, _ status: Int? = nil) -> JSON {
    guard !route.isPage else { return .object([.init(ErrorPage.mediaType, ["schema": Schema.text.json])]) }
    let example = Problem.shape.write((ServiceError(code), "req_0123456789abcdef01234567"))
    // This status may tell a wallet that its response was rejected.
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

  static let headers: JSON = [
    "Request-Id": header("Identifies this request in the server's log.", .text(like: "^req_[0-9a-f]{24}$")),
    "Cache-Control": header("Forbids caching.", .text),
    "X-Content-Type-Options": header("Forbids content sniffing.", .text),
    "Retry-After": header("Seconds to wait before a retry.", ["type": "integer", "minimum": 1]),
    "WWW-Authenticate": header(
      "The required credentials (RFC 6750, 3).", .text(like: "^Bearer realm=\"mdoc\"")),
    "Idempotent-Replayed": header(
      "The stored reply for this Idempotency-Key.", .text, isRequired: false),
    "Vary": header("Absent if the request was refused before it was parsed.", .text, isRequired: false),
    "Access-Control-Allow-Origin": header(
      "The caller's origin, if it is one of the relying party's `origins` or `wallet_origins`.", .text,
      isRequired: false),
    "Access-Control-Expose-Headers": header("Present with `Access-Control-Allow-Origin`.", .text, isRequired: false),
  ]

  private static func header(_ description: String, _ schema: Schema, isRequired: Bool = true) -> JSON {
    ["description": .string(description), "required": .bool(isRequired), "schema": schema.json]
  }
}

/// `webhooks`: the events that the server posts to the relying parties' endpoints.
enum OpenAPIWebhooks {
  /// No operation may have this tag. Generators make one class for each tag, so operations with this tag
  /// would replace the events.
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
                "default": ["description": "The event was not received. The server retries at growing intervals."],
              ],
            ]
          ])
      })
  }

  private static func description(_ type: EventType) -> String {
    let what =
      switch type {
      case .verified: "A response was verified. `result` states where to read the result."
      case .failed: "A response was rejected. `last_error` has the code."
      case .canceled: "The relying party canceled the session, or the wallet declined."
      case .expired: "Nobody responded in time."
      case .redacted: "The session's data were erased, except ids, times, status and codes."
      }
    return what + " Verify the signature (Standard Webhooks 1.0.0) before you read the body."
  }

  private static let headers: [JSON] = [
    header("webhook-id", "The event's id, the same in every attempt. Ignore an id that you have already received."),
    header("webhook-timestamp", "The time of the attempt, in Unix seconds. Refuse old attempts."),
    header("webhook-signature", "`v1,` and the base64 of an HMAC-SHA256, for each secret of the endpoint."),
  ]

  private static func header(_ name: String, _ description: String) -> JSON {
    [
      "name": .string(name), "in": "header", "required": true, "description": .string(description),
      "schema": Schema.text.json,
    ]
  }
}

/// Recorded replies by the operation's name, and recorded events by the event's type.
enum OpenAPIExamples {
  private static let all = (try? JSON(parsing: PackageResources.Examples_json, values: .max)) ?? .null

  static func reply(of name: String) -> JSON? { all[name] }
}

/// An example of a body. A server in test mode accepts it, except for ids and envelopes that belong to other sessions.
package struct RequestExample: Sendable {
  let name: String
  let summary: String
  let value: JSON

  package init(_ name: String, _ summary: String, _ value: JSON) {
    self.name = name
    self.summary = summary
    self.value = value
  }

  /// The origin of the relying party in the examples. Test mode uses the same origin.
  package static let origin = "https://shop.example"

  static let creations = [
    RequestExample(
      "in_app", "From an iPhone app, by Apple's names.",
      [
        "protocols": ["apple-in-app"],
        "documents": [
          [
            "doc_type": "org.iso.18013.5.1.mDL",
            "elements": [
              ["apple_element": "givenName"],
              ["apple_element": "portrait", "intent_to_retain": true, "retain_days": 7],
            ], "age_over": [21],
          ]
        ], "client_reference_id": "order-17",
      ]),
    RequestExample(
      "template", "With a template of the configuration.", ["protocols": ["apple-in-app"], "template": "over-18"]),
    RequestExample(
      "web", "From a web page, by the Digital Credentials API.",
      [
        "protocols": ["org-iso-mdoc", "openid4vp-v1-signed"],
        "documents": [
          [
            "doc_type": "org.iso.18013.5.1.mDL",
            "elements": [
              ["namespace": "org.iso.18013.5.1", "identifier": "given_name"],
              ["namespace": "org.iso.18013.5.1", "identifier": "family_name"],
            ], "minimum_age": 18,
          ]
        ], "origin": .string(origin), "metadata": ["till": "4"],
      ]),
    RequestExample(
      "link", "By a link or QR code to a wallet, or a hosted page that shows it.",
      [
        "protocols": ["openid4vp"],
        "documents": [
          [
            "doc_type": "eu.europa.ec.eudi.pid.1",
            "elements": [["namespace": "eu.europa.ec.eudi.pid.1", "identifier": "birth_date"]],
          ],
          [
            "doc_type": "org.iso.18013.5.1.mDL",
            "elements": [["namespace": "org.iso.18013.5.1", "identifier": "birth_date"]],
          ],
        ], "purpose": "To open your account", "return_url": .string(origin + "/done"), "expires_in": 900,
      ]),
    RequestExample(
      "in_person", "With an in-person reader.",
      [
        "protocols": ["iso-18013-5-proximity"],
        "documents": [["doc_type": "org.iso.18013.5.1.mDL", "age_over": [18, 21]]], "purpose_hint": "age",
      ]),
  ]

  static let submissions = [
    RequestExample(
      "in_app", "Apple Wallet's response, from an iPhone app.",
      ["protocol": "apple-in-app", "data": ["encrypted_data": "omlhbGdvcml0aG1nQVBQTEUtSFBLRS12MQ"]]),
    RequestExample(
      "web", "A response by the Digital Credentials API, from a web page.",
      ["protocol": "org-iso-mdoc", "data": ["response": "gmVkY2FwaaJjZW5jQ2AgYGpjaXBoZXJUZXh0Q2AgYA"]]),
    RequestExample(
      "declined", "A wallet's own refusal.",
      ["protocol": "openid4vp-v1-signed", "data": ["error": "access_denied"]]),
  ]

  static let verifications = [
    RequestExample(
      "openid4vp", "A response by OpenID4VP that your own server received.",
      [
        "response": "omd2ZXJzaW9uYzEuMGZzdGF0dXMA",
        "openid4vp": [
          "client_id": "x509_san_dns:shop.example", "response_uri": .string(origin + "/response"),
          "nonce": "n-0S6_WzA2Mj", "jwk_thumbprint": "4vC8agycHu6rnkEEXv2kUnvO0Dy4WzwnDqZKbDXMhcw",
        ],
        "dcql_query": [
          "credentials": [
            [
              "id": "licence", "format": "mso_mdoc", "meta": ["doctype_value": "org.iso.18013.5.1.mDL"],
              "claims": [["path": ["org.iso.18013.5.1", "given_name"]]],
            ]
          ]
        ], "nonce_id": "n-0S6_WzA2Mj",
      ]),
    RequestExample(
      "transcript", "A response with its session transcript.",
      [
        "response": "omd2ZXJzaW9uYzEuMGZzdGF0dXMA", "session_transcript": "g_b29g",
        "request": ["documents": [["doc_type": "org.iso.18013.5.1.mDL", "age_over": [21]]]],
      ]),
  ]

  static let walletRequest = RequestExample(
    "nonce", "A wallet that sends its nonce.", ["wallet_nonce": "qPmxiNFCR3QTm19POc8u"])

  static let walletResponse = RequestExample(
    "encrypted", "An encrypted response.", ["response": "eyJhbGciOiJFQ0RILUVTIiwiZW5jIjoiQTI1NkdDTSJ9..AA.AA.AA"])

  static let cancellation = RequestExample(
    "declined", "The person declined in the app.", ["reason": "declined"])
}

/// Links from an operation's reply to the operations that may follow (OpenAPI 3.1, Link Object).
enum OpenAPILinks {
  /// Nil if no operation follows.
  static func json(_ route: Route) -> JSON? {
    let links: KeyValuePairs<String, JSON>
    switch route.name {
    case "createVerificationSession":
      let (session, byWallet): (JSON, JSON) = (["id": "$response.body#/id"], ["session": "$response.body#/id"])
      // The wallets' paths also contain the relying party, which is not in the reply.
      links = [
        "getVerificationSession": session, "submitVerificationSession": session, "cancelVerificationSession": session,
        "redactVerificationSession": session, "getWalletRequest": byWallet, "postWalletRequest": byWallet,
        "postWalletResponse": byWallet,
      ]
    case "submitVerificationSession":
      links = [
        "getVerificationReport": ["id": "$response.body#/report/id"],
        "getVerificationSession": ["id": "$request.path.id"],
      ]
    case "createMockResponse": links = ["submitVerificationSession": ["id": "$request.body#/session"]]
    case "listVerificationSessions": links = ["getVerificationSession": ["id": "$response.body#/data/0/id"]]
    case "getVerificationSession": links = ["getVerificationReport": ["id": "$response.body#/report/id"]]
    case "listEvents": links = ["getEvent": ["id": "$response.body#/data/0/id"]]
    case "listWebhookDeliveries":
      links = [
        "retryWebhookDelivery": ["id": "$response.body#/data/0/id"], "getEvent": ["id": "$response.body#/data/0/event"],
      ]
    default: return nil
    }
    // The mock wallet's reply is the body to submit.
    let body: JSON? = route.name == "createMockResponse" ? "$response.body" : nil
    return .object(
      links.map { operation, parameters in
        JSON.Member(
          operation,
          .members(["operationId": .string(operation), "parameters": parameters, "requestBody": body]))
      })
  }
}
