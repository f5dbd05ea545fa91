import Base

/// What can be done with what an operation made (OpenAPI 3.1, Link Object).
enum OpenAPILinks {
  /// Nil where the reply leads nowhere.
  static func json(_ route: Route) -> JSON? {
    switch route.name {
    case "createVerificationSession":
      let sessions = [
        "getVerificationSession", "submitVerificationSession", "cancelVerificationSession", "redactVerificationSession",
      ]
      // Which relying party's it is, the reply does not say.
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
