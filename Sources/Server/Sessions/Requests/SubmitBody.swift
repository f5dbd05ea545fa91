import Base

/// The body of `POST …/{id}/submit`; `data` is the protocol's to read.
package struct SubmitBody: Equatable, Sendable {
  let protocolName: String
  let data: JSON
  /// The hash of the response code that the submitting page has made.
  let code: ResponseCodeHash?

  package static let shape: Shape<SubmitBody> = {
    let summary = "A wallet's response. `protocol` says which form `data` has."
    let form = object("SubmitVerificationSession", summary, .any([:]))
    let titles = forms.map(\.title)
    let choices = forms.map { form in
      let names = form.protocols.map { "`\($0)`" }.joined(separator: ", ")
      return object(form.title, "A response by \(names).", .any(form.data), of: form.protocols).schema
    }
    let names = zip(titles, forms).flatMap { title, form in
      form.protocols.map { JSON.Member($0, .string("#/components/schemas/\(title)")) }
    }
    return form.described(
      by: Schema.oneOf(choices).with("discriminator", ["propertyName": "protocol", "mapping": .object(names)])
        .described(summary).titled("SubmitVerificationSession"))
  }()

  /// The form that a wallet posts by itself, whose members a page or app may submit as `data`.
  package static let postedSchema = WalletResponse.schema(isForm: true).described(
    "The parameters that a wallet posts (OpenID4VP 1.0, 8)."
  ).titled("PostedResponseData")

  /// `{protocol, data}` of one kind. A pattern tells the kinds apart: generators make a type of each enumeration.
  private static func object(
    _ title: String, _ summary: String, _ data: Shape<JSON>, of protocols: [String] = []
  ) -> Shape<SubmitBody> {
    let name = Shape.text(like: protocols.isEmpty ? nil : "^(\(protocols.joined(separator: "|")))$")
    return .object(
      title, summary, SubmitBody.init,
      Field("protocol", \.protocolName, name, "The protocol that the wallet has answered by: one of the session's."),
      Field("data", \.data, data, "The response, as the wallet or the platform gave it."),
      .optional(
        WalletResponse.codeHash, \.code, .responseCodeHash,
        """
        With a client secret only: the SHA-256 of a response code that the page has made, in base64url. The session \
        is then read with that code, and the reply has none.
        """))
  }

  /// The kinds of `data`, each with its protocols.
  private static let forms: [(title: String, protocols: [String], data: Schema)] = [
    ("AppleInAppResponse", ProtocolFamily.inApp.protocolNames, AppleInAppProtocol.response.schema),
    ("MdocResponse", [AnnexCProtocol().name], AnnexCProtocol.response.schema),
    (
      "OpenID4VPResponse", OpenID4VPWebProtocol.Signing.allCases.map { OpenID4VPWebProtocol($0).name },
      WalletResponse.schema(isForm: false).described("The parameters that the Digital Credentials API gave the page.")
        .titled("OpenID4VPResponseData")
    ),
    ("PostedResponse", ProtocolFamily.redirect.protocolNames, postedSchema),
    ("ProximityResponse", ProtocolFamily.proximity.protocolNames, ProximityInput.shape.schema),
  ]
}

extension Shape where Value == ResponseCodeHash {
  fileprivate static var responseCodeHash: Shape {
    Shape(.text(like: ResponseCodeHash.pattern)) { json, pointer, faults in
      if let hash = json.string.flatMap({ ResponseCodeHash($0) }) { return hash }
      faults.add(pointer, "must be 32 bytes in base64url")
      return nil
    } write: {
      .string($0.text)
    }
  }
}
