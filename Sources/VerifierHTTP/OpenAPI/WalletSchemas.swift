import Primitives
import VerificationService

/// What goes to wallets and comes back from them, protocol by protocol: `data` of requests and answers, and the forms
/// that wallets post by themselves. Members beside those that are listed are the protocol's, and wallets' own.
enum WalletSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("WalletRequest", byProtocol(requestData)), .init("SubmitAnswer", byProtocol(answerData)),
    .init("WalletRequestForm", requestForm), .init("WalletResponseForm", open(responseMembers, required: [])),
    .init("WalletReply", Part.object(["redirect_uri": Part.text], optional: ["redirect_uri"])),
  ]

  // MARK: Requests

  private static func requestData(_ name: String) -> JSON {
    switch name {
    case "apple-in-app":
      Part.object([
        "nonce": Part.text, "merchant_identifier": Part.text, "documents": Part.list(of: ["type": "object"]),
      ])
    case "org-iso-mdoc": Part.object(["deviceRequest": base64URL, "encryptionInfo": base64URL])
    case "openid4vp-v1-unsigned":
      open(
        [
          "response_type": ["const": "vp_token"], "response_mode": Part.oneOf(["dc_api.jwt", "dc_api"]),
          "nonce": Part.text, "dcql_query": ["type": "object"],
        ], required: ["response_type", "response_mode", "nonce", "dcql_query"])
    case "openid4vp-v1-signed":
      Part.object(["request": ["type": "string", "description": "A request object: a compact JWS."]])
    case "openid4vp-v1-multisigned":
      Part.object(["request": ["type": "object", "description": "A request object: a JWS with several signatures."]])
    case "openid4vp", "openid4vp-iso-18013-7-annex-b":
      open(
        [
          "request_uri": Part.text, "client_id": Part.text,
          "authorization_request": [
            "type": "string", "description": "The address that opens the wallet, as a link or a QR code.",
          ],
        ], required: ["request_uri", "client_id", "authorization_request"])
    case "iso-18013-5-proximity": Part.object(["device_request": base64URL])
    default: ["type": "object"]
    }
  }

  // MARK: Answers

  private static func answerData(_ name: String) -> JSON {
    switch name {
    case "apple-in-app":
      Part.object(["encrypted_data": ["type": "string", "description": "In base64 or base64url."]])
    case "org-iso-mdoc": open(["response": base64URL], required: [])
    case "openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned":
      open(
        [
          "response": ["type": "string", "description": "A compact JWE, where an encrypted answer was asked for."],
          "vp_token": ["type": "object", "description": "Else, by query, the presentations."],
          "error": Part.text,
        ], required: [])
    case "openid4vp", "openid4vp-iso-18013-7-annex-b": open(responseMembers, required: [])
    case "iso-18013-5-proximity":
      Part.object(
        [
          "device_engagement": base64URL, "e_reader_key": base64URL,
          "handover": [
            "description": "`qr`, or `{\"nfc\": {\"select\", \"request\"}}` with the messages in base64url."
          ],
          "device_response": base64URL, "session_data": base64URL, "reader_private_key": Part.text,
        ], optional: ["device_response", "session_data", "reader_private_key"])
    default: ["type": "object"]
    }
  }

  /// The fields of the form that the wallet posts, all of them texts.
  private static let responseMembers: KeyValuePairs<String, JSON> = [
    "response": ["type": "string", "description": "A compact JWE (`direct_post.jwt`)."],
    "vp_token": ["type": "string", "description": "As JSON text (`direct_post`)."],
    "state": Part.text,
    "error": ["type": "string", "description": "The wallet's refusal (OpenID4VP 1.0, 8.5)."],
    "error_description": Part.text,
  ]

  private static let requestForm = open(
    [
      "wallet_nonce": ["type": "string", "description": "Comes back in the request object."],
      "wallet_metadata": ["type": "string", "description": "Is not looked at."],
    ], required: [])

  // MARK: Parts

  private static let base64URL: JSON = ["type": "string", "pattern": "^[A-Za-z0-9_-]+$"]

  /// An object that may have other members as well.
  private static func open(_ members: KeyValuePairs<String, JSON>, required: [String]) -> JSON {
    [
      "type": "object", "properties": .object(members.map { JSON.Member($0.key, $0.value) }),
      "required": .array(required.map { .string($0) }),
    ]
  }

  /// `{protocol, data}`, with the data of each protocol.
  private static func byProtocol(_ data: (String) -> JSON) -> JSON {
    [
      "oneOf": .array(
        ProtocolFamily.allCases.flatMap(\.protocolNames).map { name in
          Part.object(["protocol": ["const": .string(name)], "data": data(name)])
        })
    ]
  }
}
