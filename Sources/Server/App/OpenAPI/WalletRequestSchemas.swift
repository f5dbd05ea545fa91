import Base
import Presentation
import Sessions

/// The schemas of `requests[]` for each protocol, and the schema of the reply to a posted response. The protocol
/// defines any further members.
enum WalletRequestSchemas {
  static let all: [Schema] = [request, reply]

  /// One form for each kind of request, chosen by the protocol's name.
  private static let request: Schema = .oneOf(forms.map(\.schema)).titled("WalletRequest").described(
    "A request for a wallet. `protocol` determines the form of `data`."
  ).with(
    "discriminator",
    [
      "propertyName": "protocol",
      "mapping": .object(
        ProtocolFamily.allCases.flatMap(\.protocolNames).map { name in
          let form = forms.first { $0.protocols.contains(name) }
          return JSON.Member(name, Schema.reference(form?.schema["title"]?.string ?? "")["$ref"] ?? .null)
        }),
    ])

  private static let forms: [(protocols: [String], schema: Schema)] = [
    form(
      "AppleInApp", ["apple-in-app"], "for Apple's in-app framework",
      [
        member("nonce", .text, "The nonce, in base64."),
        member("merchant_identifier", .text, "The merchant identifier."),
        member("documents", .list(of: appleDocument), "The documents, in the form of `PKIdentityRequest`."),
      ]),
    form(
      "Mdoc", ["org-iso-mdoc"], "for the Digital Credentials API (ISO/IEC 18013-7, Annex C)",
      [
        member("deviceRequest", .text, "The DeviceRequest, in base64url."),
        member("encryptionInfo", .text, "The EncryptionInfo, in base64url."),
      ]),
    form(
      "OpenID4VP", ["openid4vp-v1-unsigned"], "for the Digital Credentials API, unsigned (OpenID4VP 1.0, A)",
      [
        member("response_type", .text, "`vp_token`."),
        member(
          "response_mode", Shape<String>.written(["dc_api.jwt", "dc_api"]).schema,
          "The mode in which the wallet returns the response."),
        member("nonce", .text, "The nonce."),
        member("dcql_query", .anyObject, "The DCQL query."),
      ]),
    // This form must precede the signed form. Some clients try the forms in order. They read an object as text, but not
    // text as an object.
    form(
      "Multisigned", ["openid4vp-v1-multisigned"],
      "for the Digital Credentials API, with several signatures (OpenID4VP 1.0, A)",
      [member("request", .anyObject, "The request object: a JWS in JSON.")]),
    form(
      "Signed", ["openid4vp-v1-signed"], "for the Digital Credentials API, signed (OpenID4VP 1.0, A)",
      [member("request", .text, "The request object: a compact JWS.")]),
    form(
      "Link", ["openid4vp", "openid4vp-iso-18013-7-annex-b", "openid4vp-eu-age-verification"],
      "that a link or a QR code opens",
      [
        member("authorization_request", .text, "The address that opens the wallet, as a link or a QR code."),
        member("client_id", .text, "The client identifier."),
      ],
      optional: [
        member("request_uri", .text, "The address of the request object, unless the link contains the request object."),
        member("request_uri_method", .text, "`post` if the wallet should request it by POST."),
      ]),
    form(
      "Proximity", ["iso-18013-5-proximity"], "for a reader in proximity to the wallet",
      [member("device_request", .text, "The DeviceRequest, in base64url.")]),
  ]

  private static func form(
    _ name: String, _ protocols: [String], _ purpose: String, _ data: [Schema.Member], optional: [Schema.Member] = []
  ) -> (protocols: [String], schema: Schema) {
    let data = Schema.openObject(data + optional, required: data.map(\.name)).titled(name + "RequestData").described(
      "A wallet's part of a request \(purpose).")
    let names = protocols.map { "`\($0)`" }.joined(separator: ", ")
    let members = [
      member("protocol", .text, protocols.count == 1 ? "\(names)." : "One of \(names)."),
      member("data", data, "The data to pass to the wallet."),
    ]
    return (
      protocols,
      Schema.openObject(members, required: ["protocol", "data"]).titled(name + "Request").described(
        "A request \(purpose).")
    )
  }

  private static func member(_ name: String, _ schema: Schema, _ summary: String) -> Schema.Member {
    Schema.Member(name, schema.asMember(summary))
  }

  private static let appleDocument = Schema.openObject(
    [
      member(
        "document_type", Shape<String>.written(AppleDocumentType.allCases.map(\.appleName)).schema,
        "Apple's descriptor of the document."),
      member("elements", .list(of: .text), "Apple's names of the elements."),
      member("element_intents", .list(of: appleIntent), "Whether and for how long each element is retained."),
    ], required: ["document_type", "elements", "element_intents"]
  ).titled("AppleDocumentRequest").described("One document of a request for Apple's in-app framework.")

  private static let appleIntent = Schema.openObject(
    [
      member("element", .text, "Apple's name of the element."),
      member(
        "intent_to_store", Shape<String>.written(["will_not_store", "may_store"]).schema,
        "Apple's `PKIdentityIntentToStore`."),
      member("days", ["type": "integer"], "The retention of a `may_store` element, if the request states it."),
    ], required: ["element", "intent_to_store"]
  ).titled("AppleElementIntent").described("Whether an element is retained.")

  private static let reply = Schema.openObject(
    [
      member("redirect_uri", .text, "The address to which the wallet sends the person, if any."),
      member(
        "error", .text,
        "With status 400: `invalid_request` or `server_error`; in staging and test mode the code of the refusal."),
      member("error_description", .text, "With `error`: a description of the fault for the wallet's developers."),
    ], required: []
  ).titled("WalletReply").described("The reply to a wallet. It contains no personal data.")
}
