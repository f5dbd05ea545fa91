import Base
import Mdoc
import Presentation
import Sessions

/// Schemas of the body that creates a session: one for each family of protocols, since their members differ.
///
/// The server also checks rules that no schema states: the origin is one of the relying party's, a document asks for
/// something, no element is requested twice, a document type only by OpenID4VP, and `age_over`, `minimum_age` and requested
/// `age_over_NN` together have at most two thresholds.
enum CreateSessionSchemas {
  static let all: [Schema.Member] =
    [
      .init(
        "CreateVerificationSession",
        .oneOf((ProtocolFamily.allCases.map(name) + [webOrRedirect]).map { .reference($0) })),
      .init(
        "ExpiresIn",
        .number(Limits.sessionLifetimeRange, default: Limits.sessionLifetime).orNull.described(
          "Seconds in which an answer is taken.")),
      .init("Metadata", metadata),
      .init(
        "DocumentRequest",
        document(docType: .text(1...255), elements: .reference("ElementRequest"), further: [proofs])
          .described(asksForSomething)),
      .init("ElementRequest", element(namespace: .text(1...255), identifier: .text(1...255), further: [alternatives])),
      .init("InAppDocumentRequest", .oneOf(AppleDocumentType.allCases.map(inAppDocument))),
    ] + ProtocolFamily.allCases.map { .init(name($0), session([$0], protocols($0))) } + [
      .init(webOrRedirect, session([.web, .redirect], webOrRedirectProtocols))
    ]

  /// One session for browsers that have the Digital Credentials API, and for those that do not.
  private static let webOrRedirect = "CreateWebOrRedirectSession"

  static let examples: JSON = .object(
    ProtocolFamily.allCases.map { family in
      JSON.Member(
        name(family),
        [
          "value": .members([
            "protocols": [.string(family.protocolNames[0])],
            "documents": [
              [
                "doc_type": .string(DocType.mDL),
                "elements": [["namespace": .string(Namespace.mDL), "identifier": "given_name"]], "age_over": [21],
              ]
            ],
            "origin": family == .web ? "https://shop.example" : nil, "client_reference_id": "order-17",
          ])
        ])
    })

  private static func name(_ family: ProtocolFamily) -> String {
    switch family {
    case .inApp: "CreateInAppSession"
    case .web: "CreateWebSession"
    case .redirect: "CreateRedirectSession"
    case .proximity: "CreateProximitySession"
    }
  }

  private static func protocolTitle(_ family: ProtocolFamily) -> String {
    switch family {
    case .inApp: "InAppProtocol"
    case .web: "WebProtocol"
    case .redirect: "RedirectProtocol"
    case .proximity: "ProximityProtocol"
    }
  }

  private static func session(_ families: [ProtocolFamily], _ protocols: Schema) -> Schema {
    let isInApp = families == [.inApp]
    let isWeb = families.contains(.web)
    let document = isInApp ? "InAppDocumentRequest" : "DocumentRequest"
    let shared: [Schema.Member] = [
      .init("protocols", protocols.described("Any one of them may be answered, once.")),
      .init("documents", .list(of: .reference(document), 1...Limits.requestedDocuments)),
      // An in-app answer has one document, whatever was asked.
      .init(
        "all_documents",
        (isInApp ? Schema.flag.with("const", false) : .flag).orNull.described(
          "Whether all documents must come; otherwise, and by default, any one of them is enough.")),
      .init("origin", isWeb ? origin : origin.orNull),
      .init("expires_in", .reference("ExpiresIn")),
      .init(
        "client_reference_id",
        .text(1...Limits.metadataValueCharacters).orNull.described(
          "Your own name for this attempt; it comes back with the session and its events.")),
      .init("metadata", .reference("Metadata").orNull),
    ]
    var own: [Schema.Member] = []
    if families.contains(.redirect) { own.append(.init("redirect_uri", address(redirectURI).orNull)) }
    if isWeb || families.contains(.redirect) {
      own += [.init("purpose", purpose.orNull), .init("return_url", address(returnURL).orNull)]
    }
    own +=
      isInApp
      ? [.init("apple_merchant_id", merchant.orNull)]
      : [.init("purpose_hint", purposeHint.orNull), .init("intended_use_id", intendedUse.orNull)]
    return .object(shared + own, required: ["protocols", "documents"] + (isWeb ? ["origin"] : []))
  }

  private static let webOrRedirectProtocols: Schema = {
    let names = ProtocolFamily.web.protocolNames + ProtocolFamily.besideWeb
    let most = ProtocolFamily.web.protocolNames.count + 1
    return Schema.list(of: .oneOf("WebOrRedirectProtocol", names), 2...most).with("uniqueItems", true)
      .with("contains", Schema.oneOf(ProtocolFamily.besideWeb).json)
  }()

  private static func protocols(_ family: ProtocolFamily) -> Schema {
    let count = family == .web ? family.protocolNames.count : 1
    return Schema.list(of: .oneOf(protocolTitle(family), family.protocolNames), 1...count).with("uniqueItems", true)
  }

  private static let origin: Schema = [
    "type": "string", "minLength": 1, "maxLength": 255,
    "description": "Of the page or the Android app that asks: one of the relying party's, exactly as configured.",
  ]

  private static let redirectURI =
    "Where the wallet sends the person afterwards, with the response code in the fragment: at one of the relying party's "
    + "origins, no fragment. Or an app by one of its `redirect_schemes`, with the code in the query."
  private static let returnURL =
    "Where the hosted page sends the person afterwards, with the session's id and the response code in the query: at "
    + "one of the relying party's origins, no fragment."

  private static func address(_ summary: String) -> Schema {
    [
      "type": "string", "maxLength": 2048, "pattern": "^[A-Za-z0-9+.-]+://[A-Za-z0-9._~:/?\\[\\]@!$&'()*+,;=%-]*$",
      "description": .string(summary),
    ]
  }

  private static let purpose = Schema.text(1...Limits.purposeCharacters).described(
    "Why you ask, in your own words: the hosted page shows it.")

  private static let purposeHint = Schema.oneOf("PurposeHint", PurposeHint.allCases.map { "\($0)" }).described(
    "Why you ask, for wallets: `org-iso-mdoc` and `iso-18013-5-proximity` pass it on.")

  private static let merchant: Schema = [
    "type": "string", "minLength": 1, "maxLength": 255,
    "description": "Which of the relying party's Apple merchants asks; required where it has several.",
  ]

  private static let intendedUse = Schema.text(1...255).described(
    "Which of the relying party's registration certificates the requests carry; required where it has several. All that "
      + "is asked must be registered in it.")

  private static let metadata: Schema = [
    "type": "object", "description": "What else you want to find with the session: strings by names of your own.",
    "maxProperties": .integer(Int64(Limits.metadataMembers)),
    "propertyNames": Schema.text(1...Limits.metadataValueCharacters).json,
    "additionalProperties": Schema.text(0...Limits.metadataValueCharacters).json,
  ]

  // MARK: What is asked

  private static func document(
    docType: Schema, elements: Schema, ages: ClosedRange<Int> = 1...99, further: [Schema.Member] = []
  ) -> Schema {
    let age = Schema.number(Int64(ages.lowerBound)...Int64(ages.upperBound))
    return .object(
      [
        .init("doc_type", docType.described("Of ISO/IEC 18013-5, such as `org.iso.18013.5.1.mDL`.")),
        .init("elements", .list(of: elements, 0...Limits.requestedElements).orNull),
        .init(
          "age_over",
          .list(of: age).orNull.described("Ages of which the answer says whether they are reached.")),
        .init(
          "minimum_age",
          age.orNull.described("An age that the person must have reached, or the answer is refused.")),
        .init(
          "accept_expired",
          .flag.orNull.described(
            "Whether a document whose returned `expiry_date` has passed is accepted with a warning; by default it is refused."
          )
        ),
        .init(
          "retain_days",
          .number(Limits.retainDays).orNull.described("For its elements of `intent_to_retain` that do not say.")),
      ] + further, required: ["doc_type"])
  }

  private static let proofs = Schema.Member(
    "zk",
    Schema.oneOf("ZeroKnowledge", ["off", "allowed", "required"]).orNull.described(
      "Whether a zero-knowledge proof may, or must, answer in place of the document; off by default. It shows one to four "
        + "elements and hides all else."))

  private static let asksForSomething =
    "One of `elements`, `age_over` and `minimum_age` must ask for something; no element is asked for twice."

  private static func element(namespace: Schema, identifier: Schema, further: [Schema.Member] = []) -> Schema {
    .object(
      [.init("namespace", namespace), .init("identifier", identifier)] + wishes + further,
      required: ["namespace", "identifier"])
  }

  private static let alternatives = Schema.Member(
    "alternatives",
    Schema.list(of: .reference("ElementReference"), 1...Limits.elementAlternatives).with("uniqueItems", true).orNull
      .described(
        "Elements that satisfy the request in its place, the preferred one first: another draft's name, say. They are "
          + "kept as long as it is. Not with `openid4vp-iso-18013-7-annex-b`."))

  private static let wishes: [Schema.Member] = [
    .init(
      "intent_to_retain",
      [
        "type": ["boolean", "null"], "default": false,
        "description": "Whether you will keep it: wallets tell the person, and no other element is ever retained.",
      ]),
    .init(
      "retain_days",
      .number(Limits.retainDays).orNull.described(
        "With `intent_to_retain`: days, up to the configured bound, after which a kept value is erased.")),
    .init(
      "required",
      [
        "type": ["boolean", "null"], "default": true, "description": "Whether an answer without it is refused.",
      ]),
  ]

  // MARK: In-app

  private static func inAppDocument(_ type: AppleDocumentType) -> Schema {
    let title = title(type)
    let apple = Schema.object(
      [.init("apple_element", .oneOf("\(title)AppleElementName", type.elementNames))] + wishes,
      required: ["apple_element"])
    let age = element(namespace: .text(1...255), identifier: .text(like: "^age_over_[0-9]{2}$"))
    let elements = [apple.titled("\(title)AppleElement"), age.titled("InAppAgeElement")]
    return document(
      docType: .constant(type.docType),
      elements: Schema.oneOf(elements + byNamespace(type)).titled("\(title)Element"),
      ages: ProtocolFamily.inApp.ageThresholds
    ).described(asksForSomething).titled("\(title)Request")
  }

  private static func title(_ type: AppleDocumentType) -> String {
    switch type {
    case .driversLicense: "InAppDriversLicense"
    case .photoID: "InAppPhotoID"
    case .nationalIDCard: "InAppNationalIDCard"
    }
  }

  private static func title(ofNamespace name: String) -> String {
    switch name {
    case Namespace.mDL: "ISO18013"
    case Namespace.aamva: "AAMVA"
    case Namespace.iso23220: "ISO23220"
    case Namespace.iso23220Japan: "Japan"
    default: name
    }
  }

  /// Schemas of the elements that Apple's element names stand for, one for each namespace.
  private static func byNamespace(_ type: AppleDocumentType) -> [Schema] {
    let requests = type.elementNames.flatMap { name in
      type.elementRequests(for: name, retention: .none, isRequired: true) ?? []
    }
    var namespaces: [(name: String, identifiers: [String])] = []
    for reference in requests.flatMap({ [$0.element] + $0.alternatives })
    where AgeAttestations.age(of: reference.identifier) == nil {
      let index = namespaces.firstIndex { $0.name == reference.namespace } ?? namespaces.endIndex
      if index == namespaces.endIndex { namespaces.append((reference.namespace, [])) }
      if !namespaces[index].identifiers.contains(reference.identifier) {
        namespaces[index].identifiers.append(reference.identifier)
      }
    }
    return namespaces.map { namespace in
      let title = title(type) + title(ofNamespace: namespace.name)
      return element(
        namespace: .constant(namespace.name),
        identifier: .oneOf("\(title)Identifier", namespace.identifiers)
      ).titled("\(title)Element")
    }
  }
}
