import App
import Base
import Longfellow
import Mdoc
import Mock
import Sessions

/// Routes for test mode's pages `/playground`, `/check` and `/wallet`, and for the pages' files and configuration.
enum PlaygroundRoutes {
  /// - Parameter apiKey: test mode's key. The page acts as a relying party's backend. A real backend never gives its
  ///   key to a page.
  static func all(apiKey: String, _ authority: MockAuthority, apple: [AppleConfiguration]) -> [Route] {
    PlaygroundAsset.all.map(route) + [configuration(apiKey, authority, apple)]
  }

  private static func configuration(
    _ apiKey: String, _ authority: MockAuthority, _ apple: [AppleConfiguration]
  ) -> Route {
    Route(
      .get, "/playground/config.json", "getPlaygroundConfiguration",
      "The page's configuration, with test mode's API key. For a browser on this machine.",
      access: .anyone, success: .content("application/json"), problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      try checkHost(call)
      return guarded(Reply(json: PlaygroundConfiguration.json(apiKey, authority, apple, of: call.service)))
    }
  }

  private static func route(_ asset: PlaygroundAsset) -> Route {
    Route(
      .get, asset.path, asset.operation, asset.summary, access: .anyone, success: .content(asset.mediaType),
      problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      try checkHost(call)
      return guarded(Reply(asset.mediaType, asset.body))
    }
  }

  /// Throws `api.not_found` unless the `Host` header is a name of this machine.
  private static func checkHost(_ call: RouteCall) throws(ServiceError) {
    guard let host = call.request.headers.single("Host"), ListenAddress.isThisMachine(host) else {
      throw ServiceError(.apiNotFound)
    }
  }

  /// Adds headers that limit the page's scripts, styles and calls to this server, forbid frames, and send no referrer.
  private static func guarded(_ reply: Reply) -> Reply {
    var reply = reply
    reply.headers += [
      ("Content-Security-Policy", contentSecurityPolicy), ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    return reply
  }

  private static let contentSecurityPolicy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self'",
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")
}

/// A file of a playground page, from the folder `Assets`. The package's build rule embeds the file in the program.
struct PlaygroundAsset: Sendable {
  let path: String
  /// The name of the operation in the OpenAPI description.
  let operation: String
  let summary: String
  let mediaType: String
  let body: [UInt8]

  static let all: [PlaygroundAsset] = [
    .init(
      path: "/playground", operation: "getPlayground",
      summary: "A page for trying all requests, in a browser on this machine.", mediaType: text("html"),
      body: PackageResources.playground_html),
    .init(
      path: "/check", operation: "getCheckPage",
      summary: "A page that verifies your own bytes, in a browser on this machine.", mediaType: text("html"),
      body: PackageResources.check_html),
    .init(
      path: "/wallet", operation: "getWalletPage",
      summary: "A wallet for links of this server, in a browser on this machine.", mediaType: text("html"),
      body: PackageResources.wallet_html),
    .init(
      path: "/playground/style.css", operation: "getPlaygroundStyle", summary: file, mediaType: text("css"),
      body: PackageResources.style_css),
    script("playground", PackageResources.playground_js),
    script("check", PackageResources.check_js),
    script("wallet", PackageResources.wallet_js),
    script("api", PackageResources.api_js),
    script("ask", PackageResources.ask_js),
    script("contents", PackageResources.contents_js),
    script("dom", PackageResources.dom_js),
    script("values", PackageResources.values_js),
    script("variants", PackageResources.variants_js),
    script("verdict", PackageResources.verdict_js),
  ]

  private static let file = "A file of the playground."

  private static func text(_ subtype: String) -> String { "text/\(subtype); charset=utf-8" }

  private static func script(_ name: String, _ body: [UInt8]) -> PlaygroundAsset {
    PlaygroundAsset(
      path: "/playground/\(name).js", operation: "getPlaygroundScript_\(name)", summary: file,
      mediaType: text("javascript"), body: body)
  }
}

/// The page's configuration: the possible requests, the variants of responses, and the codes' meanings.
enum PlaygroundConfiguration {
  static func json(
    _ apiKey: String, _ authority: MockAuthority, _ apple: [AppleConfiguration], of service: VerificationService
  ) -> JSON {
    let protocols = service.protocolNames
    return [
      "api_key": .string(apiKey),
      // With these values, the mock wallet of another process has documents of this server's mock authority.
      "mock": ["seed": .string(Hex.encode(authority.seedBytes)), "lists": .string(authority.addresses.base)],
      "apple": .array(
        apple.map { merchant in
          [
            "merchant_id": .string(merchant.merchantID), "team_id": .string(merchant.teamID),
            "encryption_keys": .array(
              merchant.encryptionKeys.map { .string(Base64.encode($0.publicKey.encoded)) }),
          ]
        }),
      "families": families(protocols),
      "presets": presets(protocols, circuits: service.circuits),
      "documents": documents,
      "variant_groups": variantGroups(protocols),
      "codes": codes,
    ]
  }

  // MARK: Requests

  /// The families of protocols. A session may offer several protocols of one family.
  private static func families(_ offered: [String]) -> JSON {
    .array(
      ProtocolFamily.allCases.flatMap { family -> [JSON] in
        let names = family.protocolNames.filter(offered.contains)
        if family == .web {
          return names.isEmpty ? [] : [self.family("web", "Digital Credentials API, in a browser", names)]
        }
        return names.map { self.family($0, label(ofProtocol: $0), [$0]) }
      })
  }

  private static func family(_ name: String, _ label: String, _ protocols: [String]) -> JSON {
    ["name": .string(name), "label": .string(label), "protocols": .array(protocols.map { .string($0) })]
  }

  private static func label(ofProtocol name: String) -> String {
    switch name {
    case "apple-in-app": "Apple Wallet, in an app"
    case "openid4vp": "OpenID4VP, by redirect or QR code"
    case "openid4vp-eu-age-verification": "European age verification, by a link that contains the request"
    case "openid4vp-iso-18013-7-annex-b": "OpenID4VP of ISO/IEC TS 18013-7, Annex B"
    case "iso-18013-5-proximity": "In person, by a reader app"
    default: name
    }
  }

  /// Ready-made requests for documents of the mock wallet. If circuits are available, the list also contains a request
  /// for a proof.
  private static func presets(_ offered: [String], circuits: CircuitLibrary?) -> JSON {
    var presets = [
      preset("over-18", "Over 18", "a driving licence, yes or no", [driving([], ages: [18])], inApp: true),
      preset("over-21", "Over 21", "a driving licence, yes or no", [driving([], ages: [21])], inApp: true),
      preset(
        "full-identity", "Full identity", "names, portrait, birth, address",
        [driving(["family_name", "given_name", "portrait", "birth_date", "resident_address", "document_number"])],
        inApp: true),
      preset(
        "driving-licence", "Driving licence", "who may drive what, and until when",
        [driving(["family_name", "given_name", "portrait", "driving_privileges", "expiry_date"])], inApp: true),
      preset(
        "proof-of-age-eu", "EU proof of age", "over 18, by the EU’s profile",
        [["doc_type": .string(MockDocType.proofOfAge), "age_over": [18]]]),
      preset(
        "pid-eu", "EU PID", "the person’s identity, by the EU’s profile",
        [
          asked(
            DocType.europeanPID, Namespace.europeanPID,
            ["family_name", "given_name", "birth_date", "place_of_birth", "nationality", "portrait"])
        ]),
      preset(
        "my-number", "My Number", "Japan’s card: name, portrait, address",
        [
          asked(
            DocType.japanMyNumber, Namespace.iso23220Japan,
            ["full_name_unicode", "portrait", "resident_address_unicode"])
        ], inApp: true),
    ]
    let name = "org-iso-mdoc"
    if offered.contains(name), circuits?.circuits.contains(where: { $0.elements == 1 }) == true {
      presets.append(
        preset(
          "proof-of-age", "Over 18, zero knowledge", "nothing else is shown",
          [
            [
              "doc_type": .string(MockDocType.proofOfAge), "zk": "required",
              "elements": [["namespace": .string(MockDocType.proofOfAge), "identifier": "age_over_18"]],
            ]
          ], by: name))
    }
    return .array(presets)
  }

  /// - Parameters:
  ///   - inApp: whether Apple's in-app protocol supports the request.
  ///   - protocolName: the request's only protocol; nil to let the person choose.
  private static func preset(
    _ name: String, _ label: String, _ about: String, _ documents: [JSON], inApp: Bool = false,
    by protocolName: String? = nil
  ) -> JSON {
    [
      "name": .string(name), "label": .string(label), "about": .string(about), "in_app": .bool(inApp),
      "request": .members(["protocols": protocolName.map { [.string($0)] }, "documents": .array(documents)]),
    ]
  }

  private static func driving(_ elements: [String], ages: [Int64] = []) -> JSON {
    asked(DocType.mDL, Namespace.mDL, elements, ages: ages)
  }

  private static func asked(_ docType: String, _ namespace: String, _ elements: [String], ages: [Int64] = []) -> JSON {
    .members([
      "doc_type": .string(docType),
      "elements": .array(elements.map { ["namespace": .string(namespace), "identifier": .string($0)] }),
      "age_over": ages.isEmpty ? nil : .array(ages.map { .integer($0) }),
    ])
  }

  /// The catalogue: one entry for each spelling of a document type, with its initially selected elements.
  private static let documents: JSON = .array(
    DocTypeCatalogue.all.flatMap { definition -> [JSON] in
      let described = CatalogueRendering.json(definition).object ?? []
      return definition.spellings.map { spelling in
        let isOther = !spelling.hasSameBytes(as: definition.docType)
        let own: [JSON.Member] = [
          .init("doc_type", .string(spelling)),
          .init("label", .string(definition.label + (isOther ? ", other spelling" : ""))),
          .init("preset", preset(spelling)),
        ]
        return .object(own + described.filter { !["doc_type", "label", "aliases"].contains($0.name) })
      }
    })

  /// The elements of the standard request, to which the variants' codes apply.
  private static func preset(_ docType: String) -> JSON {
    let document = MockRequest.standard.documents.first { $0.docType == docType }
    return .array(
      (document?.elements ?? []).map {
        ["namespace": .string($0.namespace), "identifier": .string($0.identifier)]
      })
  }

  // MARK: Variants of responses

  private static func variantGroups(_ protocols: [String]) -> JSON {
    let published = MockVariant.Group(name: "published lists", variants: MockPublishedList.chosen.map(\.variant))
    return .array(
      (MockVariant.groups + [published]).map { group in
        ["name": .string(group.name), "variants": .array(group.variants.map { variant($0, protocols) })]
      })
  }

  /// A variant for the page, with the protocols for which its codes hold. If it needs a proof, it also has a request
  /// for a proof.
  private static func variant(_ variant: MockVariant, _ protocols: [String]) -> JSON {
    [
      "name": .string(variant.name), "summary": .string(variant.summary),
      "codes": .array(variant.codes.map { .string($0.rawValue) }),
      "warnings": .array(variant.warnings.map { .string($0.rawValue) }),
      "protocols": .array(protocols.filter { variant.holds(over: $0, hasProofs: true) }.map { .string($0) }),
      "needs_proof": .bool(variant.applicability == .zeroKnowledge),
    ]
  }

  // MARK: Codes

  private static let codes: JSON = .array(
    Code.allCases.map { code in
      .members([
        "code": .string(code.rawValue), "summary": .string(code.entry.summary), "remedy": .string(code.entry.remedy),
        "passed": code.passedSentence.map { .string($0) },
      ])
    })
}
