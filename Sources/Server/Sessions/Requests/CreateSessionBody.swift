import Base

/// The body of `POST /v1/verification_sessions`, as it is written.
package struct CreateSessionBody: Equatable, Sendable {
  let protocols: [String]
  let asked: PresentationInput
  let origin: String?
  let redirectURI: String?
  let purpose: String?
  let returnURL: String?
  let appleMerchantID: String?
  let intendedUseID: String?
  /// Seconds.
  let expiresIn: Int64
  let clientReferenceID: String?
  let metadata: [SessionContent.MetadataEntry]

  package static let shape = Shape.object(
    "CreateVerificationSession", "A request to a person's wallet.",
    {
      CreateSessionBody(
        protocols: $0, asked: PresentationInput(documents: $1, requiresAllDocuments: $2, purposeHint: $3), origin: $4,
        redirectURI: $5, purpose: $6, returnURL: $7, appleMerchantID: $8, intendedUseID: $9, expiresIn: $10,
        clientReferenceID: $11, metadata: $12)
    },
    Field(
      "protocols", \.protocols, protocols,
      """
      The protocols to ask by, each once. Any one of them may be answered, once. `apple-in-app`, \
      `iso-18013-5-proximity` and `openid4vp-iso-18013-7-annex-b` are each offered without others. `org-iso-mdoc` and \
      `openid4vp-v1-…` go together, and with them one of `openid4vp` and `openid4vp-eu-age-verification`. The latter \
      asks for the document types that the relying party has configured for it, keeps no element, and holds a short \
      request only.
      """),
    PresentationInput.documents(\.asked), PresentationInput.allDocuments(\.asked),
    PresentationInput.purposeHint(\.asked),
    .optional(
      "origin", \.origin, .text(),
      """
      The origin of the page or Android app that asks: one of the relying party's, exactly as configured. Required \
      with `org-iso-mdoc` and `openid4vp-v1-…`.
      """),
    .optional(
      "redirect_uri", \.redirectURI, address,
      """
      Where the wallet sends the person afterwards: an address at one of the relying party's origins, without a \
      fragment; the response code is added as the fragment. Or an app by one of its `redirect_schemes`, with the code \
      in the query. Only with a protocol by redirect or QR code.
      """),
    .optional(
      "purpose", \.purpose, .text(1...Limits.purposeCharacters),
      "Why you ask, in your own words: the hosted page shows it. Only where the session has a hosted page."),
    .optional(
      "return_url", \.returnURL, address,
      """
      Where the hosted page sends the person afterwards: an address at one of the relying party's origins, without a \
      fragment; the session's id and the response code are added to the query. Only where the session has a hosted \
      page.
      """),
    .optional(
      "apple_merchant_id", \.appleMerchantID, .text(),
      "Which of the relying party's Apple merchants asks. Required with `apple-in-app` if it has several, and only there."
    ),
    .optional(
      "intended_use_id", \.intendedUseID, .text(),
      """
      Which of the relying party's registration certificates the requests carry. Required if it has several. \
      Everything asked for must be registered in it. Not with `apple-in-app`.
      """),
    .optional(
      "expires_in", \.expiresIn, .integer(Limits.sessionLifetimeRange), or: Limits.sessionLifetime,
      "Seconds in which a response is taken."),
    .optional(
      "client_reference_id", \.clientReferenceID, .text(1...Limits.metadataValueCharacters),
      "Your own name for this attempt. It comes back with the session."),
    .optional("metadata", \.metadata, .metadata, or: [], "Further texts that you want to find with the session."))

  /// All names are text for the reader: which of them are offered depends on the server.
  private static let protocols = Shape.text()
    .described(
      by: .oneOf("PresentationProtocol", ProtocolFamily.allCases.flatMap(\.protocolNames)).described(
        "A way to ask a wallet and to get its response.")
    ).list(1...8)

  private static let address = Shape.text(
    1...2048, like: "^[A-Za-z0-9+.-]+://[A-Za-z0-9._~:/?\\[\\]@!$&'()*+,;=%-]*$")
}

extension Shape where Value == [SessionContent.MetadataEntry] {
  /// Texts by names of the relying party's own.
  static var metadata: Shape {
    let most = Limits.metadataValueCharacters
    let schema: Schema = [
      "title": "Metadata", "type": "object", "description": "Texts by names of your own.",
      "maxProperties": .integer(Int64(Limits.metadataMembers)), "propertyNames": Schema.text(1...most).json,
      "additionalProperties": Schema.text(0...most).json,
    ]
    return Shape(schema) { json, pointer, faults in
      guard let members = json.object, members.count <= Limits.metadataMembers else {
        faults.add(pointer, "must be an object of at most \(Limits.metadataMembers) strings")
        return nil
      }
      return members.compactMap { member in
        guard (1...most).contains(member.name.unicodeScalars.count), let text = member.value.string,
          text.unicodeScalars.count <= most
        else {
          faults.add("\(pointer)/\(JSONPointer.escape(member.name))", "must be a string of at most \(most) characters")
          return nil
        }
        return SessionContent.MetadataEntry(name: member.name, value: text)
      }
    } write: { entries in
      .object(entries.map { JSON.Member($0.name, .string($0.value)) })
    }
  }
}
