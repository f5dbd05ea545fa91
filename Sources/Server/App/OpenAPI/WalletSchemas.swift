import Base
import Presentation
import Sessions

/// What goes to wallets and comes back from them, protocol by protocol: `data` of requests and answers, and the forms
/// that wallets post by themselves. Members beside those that are listed are the protocol's, and wallets' own.
enum WalletSchemas {
  private typealias Part = OpenAPISchemas

  static let all: [JSON.Member] = [
    .init("WalletRequest", byProtocol("Request", requestData)), .init("SubmitAnswer", byProtocol("Answer", answerData)),
    .init("AppleElementIntent", appleIntent),
    .init("WalletRequestForm", form(requestForm)),
    .init("WalletResponseForm", form(Part.described(open(responseMembers, required: []), oneOfAnswers))),
    .init("WalletReply", Part.object(["redirect_uri": Part.text], optional: ["redirect_uri"])),
  ]

  // MARK: Requests

  private static func requestData(_ name: String) -> JSON {
    switch name {
    case "apple-in-app":
      Part.object([
        "nonce": Part.text, "merchant_identifier": Part.text,
        "documents": Part.list(
          of: Part.object(
            "AppleDocumentRequest",
            [
              "document_type": Part.oneOf("AppleDocumentType", AppleDocumentType.allCases.map(\.appleName)),
              "elements": Part.list(of: Part.text),
              "element_intents": Part.list(of: Part.reference("AppleElementIntent")),
            ])),
      ])
    case "org-iso-mdoc": Part.object(["deviceRequest": base64URL, "encryptionInfo": base64URL])
    case "openid4vp-v1-unsigned":
      open(
        [
          "response_type": Part.constant("vp_token"),
          "response_mode": Part.oneOf("ResponseMode", ["dc_api.jwt", "dc_api"]),
          "nonce": Part.text, "dcql_query": Part.titled("DCQLQuery", ["type": "object"]),
        ], required: ["response_type", "response_mode", "nonce", "dcql_query"])
    case "openid4vp-v1-signed":
      Part.object(["request": ["type": "string", "description": "A request object: a compact JWS."]])
    case "openid4vp-v1-multisigned":
      Part.object([
        "request": Part.titled(
          "MultisignedRequestObject",
          ["type": "object", "description": "A request object: a JWS with several signatures."])
      ])
    case "openid4vp", "openid4vp-iso-18013-7-annex-b":
      open(
        [
          "request_uri": Part.text, "request_uri_method": Part.constant("post"), "client_id": Part.text,
          "authorization_request": [
            "type": "string", "description": "The address that opens the wallet, as a link or a QR code.",
          ],
        ], required: ["request_uri", "request_uri_method", "client_id", "authorization_request"])
    case "iso-18013-5-proximity": Part.object(["device_request": base64URL])
    default: ["type": "object"]
    }
  }

  /// `PKIdentityIntentToStore`.
  private static let appleIntent = Part.object(
    [
      "element": Part.text, "intent_to_store": Part.oneOf("AppleIntentToStore", ["will_not_store", "may_store"]),
      "days": [
        "type": "integer", "description": "Of `may_store`, for how long; without it nothing is said of that.",
      ],
    ], optional: ["days"])

  // MARK: Answers

  private static func answerData(_ name: String) -> JSON {
    switch name {
    case "apple-in-app": Part.object(["encrypted_data": anyBase64])
    case "org-iso-mdoc":
      // The member is `Response` in the text of the standard.
      Part.described(
        open(["response": base64URL, "Response": base64URL], required: []), "Exactly one of the two.")
    case "openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned":
      Part.described(
        open(
          [
            "response": ["type": "string", "description": "A compact JWE, where an encrypted answer was asked for."],
            "vp_token": ["description": "Else an object of the presentations by query."],
            "error": Part.text,
          ], required: []), oneOfAnswers)
    case "openid4vp", "openid4vp-iso-18013-7-annex-b":
      Part.described(open(responseMembers, required: []), oneOfAnswers)
    case "iso-18013-5-proximity":
      [
        "oneOf": [
          Part.titled("ProximityResponse", proximity("device_response", [])),
          Part.titled("ProximitySessionData", proximity("session_data", ["reader_private_key"])),
        ]
      ]
    default: ["type": "object"]
    }
  }

  /// OpenID4VP 1.0, 8.
  private static let oneOfAnswers = "Exactly one of `response`, `vp_token` and `error`."

  /// With what the reader received in one of its two forms.
  private static func proximity(_ answer: String, _ more: [String]) -> JSON {
    let members: [JSON.Member] = [
      .init("device_engagement", nonEmptyBase64URL), .init("e_reader_key", nonEmptyBase64URL),
      .init("handover", handover), .init(answer, nonEmptyBase64URL),
      .init(
        "reader_private_key",
        [
          "type": "string",
          "description": "In PEM, or the raw scalar in base64url; for a MAC, and for `session_data`.",
        ]),
    ]
    return Part.object(members, required: ["device_engagement", "e_reader_key", "handover", answer] + more)
  }

  private static let handover = Part.titled(
    "ProximityHandover",
    [
      "oneOf": [
        Part.oneOf("QRHandover", ["qr"]),
        Part.object(
          "NFCHandover",
          [
            "nfc": Part.object(
              "NFCHandoverMessages",
              ["select": nonEmptyBase64URL, "request": Part.orNull(nonEmptyBase64URL)], optional: ["request"])
          ]),
      ],
      "description": "How the engagement went: by QR code, or the messages of the negotiated or static NFC handover.",
    ])

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
      "wallet_nonce": [
        "type": "string", "maxLength": .integer(Int64(Limits.walletNonceBytes)),
        "description": "Comes back in the request object.",
      ],
      "wallet_metadata": ["type": "string", "description": "Is not looked at."],
    ], required: [])

  // MARK: Parts

  /// In the one form that each byte string has: no padding, no stray bits.
  private static let base64URLText =
    "([A-Za-z0-9_-]{4})*([A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?"
  private static let base64URL = Part.text(like: "^\(base64URLText)$")
  private static let nonEmptyBase64URL: JSON = .object((base64URL.object ?? []) + [.init("minLength", 2)])
  private static let base64Text =
    "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"
  private static let anyBase64 = Part.described(
    Part.text(like: "^(\(base64Text)|\(base64URLText))$"), "In base64 or base64url.")

  /// An object that may have other members as well.
  private static func open(_ members: KeyValuePairs<String, JSON>, required: [String]) -> JSON {
    [
      "type": "object", "properties": .object(members.map { JSON.Member($0.key, $0.value) }),
      "required": .array(required.map { .string($0) }),
    ]
  }

  /// A form has texts alone, each name once.
  private static func form(_ schema: JSON) -> JSON {
    .object((schema.object ?? []) + [.init("additionalProperties", Part.text)])
  }

  /// `{protocol, data}`, with the data of each protocol.
  private static func byProtocol(_ kind: String, _ data: (String) -> JSON) -> JSON {
    let names = ProtocolFamily.allCases.flatMap(\.protocolNames)
    let titles = names.map { title(ofProtocol: $0) + kind }
    return [
      "oneOf": .array(
        zip(names, titles).map { name, title in
          Part.object(title, ["protocol": Part.constant(name), "data": Part.titled(title + "Data", data(name))])
        }),
      "discriminator": [
        "propertyName": "protocol",
        "mapping": .object(zip(names, titles).map { .init($0, .string("#/components/schemas/\($1)")) }),
      ],
    ]
  }

  private static func title(ofProtocol name: String) -> String {
    switch name {
    case "apple-in-app": "AppleInApp"
    case "org-iso-mdoc": "ISOMdoc"
    case "openid4vp-v1-unsigned": "OpenID4VPUnsigned"
    case "openid4vp-v1-signed": "OpenID4VPSigned"
    case "openid4vp-v1-multisigned": "OpenID4VPMultisigned"
    case "openid4vp": "OpenID4VPRedirect"
    case "openid4vp-iso-18013-7-annex-b": "AnnexB"
    case "iso-18013-5-proximity": "Proximity"
    default: name
    }
  }
}
