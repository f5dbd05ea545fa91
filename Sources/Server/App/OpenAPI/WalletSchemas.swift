import Base
import Presentation
import Sessions

/// Schemas of the data that goes to wallets and comes back from them, protocol by protocol: `data` of requests and
/// answers, and the forms that wallets post by themselves. Members that are not listed belong to the protocol or to the
/// wallet.
enum WalletSchemas {
  static let all: [Schema.Member] = [
    .init("SubmitAnswer", byProtocol("Answer", answerData, codeHash)),
    .init("WalletRequestForm", form(requestForm)),
    .init("WalletResponseForm", form(.openObject(responseMembers).described(oneOfAnswers))),
  ]

  // MARK: Answers

  private static func answerData(_ name: String) -> Schema {
    switch name {
    case "apple-in-app": .object(["encrypted_data": anyBase64])
    case "org-iso-mdoc":
      // The member is `Response` in the text of the standard.
      .openObject(["response": base64URL, "Response": base64URL]).described("Exactly one of the two.")
    case "openid4vp-v1-unsigned", "openid4vp-v1-signed", "openid4vp-v1-multisigned":
      .openObject(
        [
          "response": .text.described("A compact JWE, where an encrypted answer was asked for."),
          "vp_token": ["description": "Else an object of the presentations by query."],
          "error": .text,
        ]).described(oneOfAnswers)
    case "openid4vp", "openid4vp-iso-18013-7-annex-b", "openid4vp-eu-age-verification":
      .openObject(responseMembers).described(oneOfAnswers)
    case "iso-18013-5-proximity":
      .oneOf([
        proximity("device_response", []).titled("ProximityResponse"),
        proximity("session_data", ["reader_private_key"]).titled("ProximitySessionData"),
        .object(
          "ProximityReaderResponse",
          [
            "session_transcript": nonEmptyBase64URL.described("As Apple's ProximityReader returns it."),
            "device_response": nonEmptyBase64URL, "reader_private_key": privateKey,
          ], optional: ["reader_private_key"]),
      ])
    default: ["type": "object"]
    }
  }

  /// OpenID4VP 1.0, 8.
  private static let oneOfAnswers = "Exactly one of `response`, `vp_token` and `error`."

  /// What the reader received, in one of its two forms: the member `answer` names the form. `more` lists further
  /// members that this form requires.
  private static func proximity(_ answer: String, _ more: [String]) -> Schema {
    let members: [Schema.Member] = [
      .init("device_engagement", nonEmptyBase64URL), .init("e_reader_key", nonEmptyBase64URL),
      .init("handover", handover), .init(answer, nonEmptyBase64URL),
      .init("reader_private_key", privateKey),
    ]
    return .object(members, required: ["device_engagement", "e_reader_key", "handover", answer] + more)
  }

  private static let privateKey = Schema.text.described(
    "In PEM, or the raw scalar in base64url; for a MAC, and for `session_data`.")

  private static let handover = Schema.oneOf([
    .oneOf("QRHandover", ["qr"]),
    .object(
      "NFCHandover",
      [
        "nfc": .object(
          "NFCHandoverMessages",
          ["select": nonEmptyBase64URL, "request": nonEmptyBase64URL.orNull], optional: ["request"])
      ]),
  ])
  .described("How the engagement went: by QR code, or the messages of the negotiated or static NFC handover.")
  .titled("ProximityHandover")

  /// The fields of the form that the wallet posts, all of them texts.
  private static let responseMembers: KeyValuePairs<String, Schema> = [
    "response": .text.described("A compact JWE (`direct_post.jwt`)."),
    "vp_token": .text.described("As JSON text (`direct_post`)."),
    "state": .text.described("Must be the request's; required with `error`."),
    "error": .text.described("The wallet's refusal (OpenID4VP 1.0, 8.5)."),
    "error_description": .text.described("Kept with the session as the wallet's own words."),
  ]

  private static let requestForm = Schema.openObject(
    [
      "wallet_nonce": [
        "type": "string", "maxLength": .integer(Int64(Limits.walletNonceBytes)),
        "description": "Comes back in the request object.",
      ],
      "wallet_metadata": .text.described(
        "JSON text of at most \(Limits.walletMetadataBytes) bytes (OpenID4VP 1.0, 10): with `jwks` the request object "
          + "comes encrypted."),
    ])

  // MARK: Parts

  /// Base64url in its only canonical form: no padding, no stray bits.
  private static let base64URLText =
    "([A-Za-z0-9_-]{4})*([A-Za-z0-9_-][AQgw]|[A-Za-z0-9_-]{2}[AEIMQUYcgkosw048])?"
  private static let base64URL: Schema = .text(like: "^\(base64URLText)$")
  private static let nonEmptyBase64URL = base64URL.with("minLength", 2)
  private static let base64Text =
    "([A-Za-z0-9+/]{4})*([A-Za-z0-9+/][AQgw]==|[A-Za-z0-9+/]{2}[AEIMQUYcgkosw048]=)?"
  private static let anyBase64: Schema = .text(like: "^(\(base64Text)|\(base64URLText))$").described(
    "In base64 or base64url.")

  /// A form: all its members are text, and each name occurs once.
  private static func form(_ schema: Schema) -> Schema {
    schema.with("additionalProperties", Schema.text.json)
  }

  private static let codeHash = Schema.Member(
    "response_code_sha256",
    .text(like: ResponseCodeHash.pattern).orNull.described(
      "With a client secret: of a response code that the page has made, in place of one in the reply."))

  /// A choice of `{protocol, data}`, with the data of each protocol, and a member that may be beside.
  private static func byProtocol(
    _ kind: String, _ data: (String) -> Schema, _ optional: Schema.Member...
  ) -> Schema {
    let names = ProtocolFamily.allCases.flatMap(\.protocolNames)
    let titles = names.map { title(ofProtocol: $0) + kind }
    let forms = zip(names, titles).map { name, title in
      Schema.object(
        [.init("protocol", .constant(name)), .init("data", data(name).titled(title + "Data"))] + optional,
        required: ["protocol", "data"]
      ).titled(title)
    }
    return .oneOf(forms).with(
      "discriminator",
      [
        "propertyName": "protocol",
        "mapping": .object(zip(names, titles).map { .init($0, .string("#/components/schemas/\($1)")) }),
      ])
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
    case "openid4vp-eu-age-verification": "EUAgeVerification"
    case "iso-18013-5-proximity": "Proximity"
    default: name
    }
  }
}
