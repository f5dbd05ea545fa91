import App
import Base
import Longfellow
import Mdoc
import Mock
import Sessions

/// `/playground`: the page, its files and its configuration. Only test mode has them.
enum PlaygroundRoutes {
  static func all(_ playground: Playground) -> [Route] { PlaygroundAsset.all.map(route) + [configuration(playground)] }

  private static func configuration(_ playground: Playground) -> Route {
    Route(
      method: .get, path: PathTemplate("/playground/config.json"), name: "getPlaygroundConfiguration",
      summary: "What the page is set up with, test mode's API key among it. For a browser on this machine.",
      access: .anyone, success: .content("application/json"), problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      try checkHost(call)
      return guarded(Answer(json: PlaygroundConfiguration.json(playground, of: call.application.service)))
    }
  }

  private static func route(_ asset: PlaygroundAsset) -> Route {
    Route(
      method: .get, path: PathTemplate("/playground" + (asset.name.isEmpty ? "" : "/\(asset.name)")),
      name: asset.operation,
      summary: asset.name.isEmpty ? "A page to try everything with, in a browser on this machine." : "A file of it.",
      access: .anyone, success: .content(asset.mediaType), problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      try checkHost(call)
      return guarded(Answer(status: 200, mediaType: asset.mediaType, body: asset.body))
    }
  }

  /// Requires that the `Host` header names this machine. Another name does not even learn that there is a server.
  ///
  /// - Throws: `api.not_found` if the host is missing or has another name.
  private static func checkHost(_ call: RouteCall) throws(ServiceError) {
    guard let host = call.request.headers.single("Host"), ListenAddress.isThisMachine(host) else {
      throw ServiceError(.apiNotFound)
    }
  }

  /// Adds headers that let the page load scripts and styles from, and call, this server only, forbid frames, and tell
  /// other servers no address of the page.
  private static func guarded(_ answer: Answer) -> Answer {
    var answer = answer
    answer.headers += [
      ("Content-Security-Policy", contentSecurityPolicy), ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Resource-Policy", "same-origin"),
    ]
    return answer
  }

  private static let contentSecurityPolicy = [
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data: blob:", "connect-src 'self'",
    "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
  ].joined(separator: "; ")
}

/// Test mode's page for a person to try the server with: what it needs besides the application itself.
struct Playground: Sendable {
  /// Test mode's API key. The page acts as a relying party's backend; a real backend never gives its key to a page.
  let apiKey: String
}

/// A file of the page, from the folder `Assets`, which the package's build rule embeds in the program.
struct PlaygroundAsset: Sendable {
  /// The path below `/playground`; empty for the page itself.
  let name: String
  /// The name of the operation in the OpenAPI description.
  let operation: String
  let mediaType: String
  let body: [UInt8]

  static let all: [PlaygroundAsset] = [
    .init(name: "", operation: "getPlayground", mediaType: html, body: PackageResources.playground_html),
    .init(name: "style.css", operation: "getPlaygroundStyle", mediaType: css, body: PackageResources.style_css),
    script("playground", PackageResources.playground_js),
    script("api", PackageResources.api_js),
    script("ask", PackageResources.ask_js),
    script("contents", PackageResources.contents_js),
    script("dom", PackageResources.dom_js),
    script("values", PackageResources.values_js),
    script("variants", PackageResources.variants_js),
    script("verdict", PackageResources.verdict_js),
  ]

  private static let html = "text/html; charset=utf-8"
  private static let css = "text/css; charset=utf-8"
  private static let javaScript = "text/javascript; charset=utf-8"

  private static func script(_ name: String, _ body: [UInt8]) -> PlaygroundAsset {
    PlaygroundAsset(
      name: "\(name).js", operation: "getPlaygroundScript_\(name)", mediaType: javaScript, body: body)
  }
}

/// The page's configuration: the possible requests, the ways of answering them, and what codes mean.
enum PlaygroundConfiguration {
  static func json(_ playground: Playground, of service: VerificationService) -> JSON {
    let protocols = service.protocolNames
    return [
      "api_key": .string(playground.apiKey),
      "families": families(protocols),
      "presets": presets(protocols, circuits: service.circuits),
      "documents": documents,
      "variant_groups": variantGroups(protocols),
      "codes": codes,
    ]
  }

  // MARK: What can be asked

  /// The families of protocols: a session may offer those of one family together, and no others.
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
    case "openid4vp-eu-age-verification": "European age verification, by a link that holds the request"
    case "openid4vp-iso-18013-7-annex-b": "OpenID4VP of ISO/IEC TS 18013-7, Annex B"
    case "iso-18013-5-proximity": "In person, by a reader app"
    default: name
    }
  }

  /// Requests that are ready to be made, of documents that the mock wallet has; and that of a proof, where there are
  /// circuits for it.
  private static func presets(_ offered: [String], circuits: CircuitLibrary?) -> JSON {
    var presets = [
      preset("over-18", "Over 18", "a driving licence, one answer", [driving([], ages: [18])], inApp: true),
      preset("over-21", "Over 21", "a driving licence, one answer", [driving([], ages: [21])], inApp: true),
      preset(
        "full-identity", "Full identity", "names, portrait, birth, address",
        [
          driving(["family_name", "given_name", "portrait", "birth_date", "resident_address", "document_number"])
        ], inApp: true),
      preset(
        "driving-licence", "Driving licence", "who may drive what, and until when",
        [driving(["family_name", "given_name", "portrait", "driving_privileges", "expiry_date"])], inApp: true),
      preset(
        "proof-of-age-eu", "EU proof of age", "over 18, by the EU’s profile",
        [["doc_type": .string(MockDocType.proofOfAge), "age_over": [18]]]),
      preset(
        "pid-eu", "EU PID", "who the person is, by the EU’s profile",
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
  ///   - inApp: whether Apple's in-app protocol can ask it.
  ///   - protocolName: by which alone it is asked; nil for the one that the person chose.
  private static func preset(
    _ name: String, _ label: String, _ about: String, _ documents: [JSON], inApp: Bool = false,
    by protocolName: String? = nil
  ) -> JSON {
    [
      "name": .string(name), "label": .string(label), "about": .string(about), "in_app": .bool(inApp),
      "request": .members([
        "protocols": protocolName.map { [.string($0)] }, "documents": .array(documents),
      ]),
    ]
  }

  private static func driving(_ elements: [String], ages: [Int64] = []) -> JSON {
    asked(DocType.mDL, Namespace.mDL, elements, ages: ages)
  }

  private static func asked(
    _ docType: String, _ namespace: String, _ elements: [String], ages: [Int64] = []
  ) -> JSON {
    .members([
      "doc_type": .string(docType),
      "elements": .array(elements.map { ["namespace": .string(namespace), "identifier": .string($0)] }),
      "age_over": ages.isEmpty ? nil : .array(ages.map { .integer($0) }),
    ])
  }

  /// The catalogue: one entry for each spelling of a document type, with the elements that are selected at first.
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

  /// The elements of the standard request, for which the variants' codes hold.
  private static func preset(_ docType: String) -> JSON {
    let document = MockRequest.standard.documents.first { $0.docType == docType }
    return .array(
      (document?.elements ?? []).map {
        ["namespace": .string($0.namespace), "identifier": .string($0.identifier)]
      })
  }

  // MARK: How it can be answered

  private static func variantGroups(_ protocols: [String]) -> JSON {
    let groups = MockVariant.groups.map { (name: $0.name, variants: $0.variants) }
    let published = (name: "published lists", variants: MockPublishedList.chosen.map(\.variant))
    return .array(
      (groups + [published]).map { group in
        [
          "name": .string(group.name),
          "variants": .array(group.variants.map { variant($0, protocols) }),
        ]
      })
  }

  /// A variant for the page. Its `protocols` are those for which its codes hold, if a proof is asked for where it needs
  /// one.
  private static func variant(_ variant: MockVariant, _ protocols: [String]) -> JSON {
    [
      "name": .string(variant.name), "summary": .string(variant.summary),
      "codes": .array(variant.codes.map { .string($0.rawValue) }),
      "warnings": .array(variant.warnings.map { .string($0.rawValue) }),
      "protocols": .array(protocols.filter { variant.holds(over: $0, hasProofs: true) }.map { .string($0) }),
      "needs_proof": .bool(variant.applicability == .zeroKnowledge),
    ]
  }

  // MARK: What codes mean

  private static let codes: JSON = .array(
    Code.allCases.map { code in
      .members([
        "code": .string(code.rawValue), "summary": .string(code.entry.summary), "remedy": .string(code.entry.remedy),
        "passed": code.passedSentence.map { .string($0) },
      ])
    })
}
