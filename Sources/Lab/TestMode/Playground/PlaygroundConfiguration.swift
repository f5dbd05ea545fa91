import Base
import Mdoc
import Mock
import Sessions

/// What the page is set up with: what can be asked and how, the ways of answering, what codes mean.
enum PlaygroundConfiguration {
  static func json(_ playground: Playground, of service: VerificationService) -> JSON {
    // A reader in person is no page.
    let protocols = service.protocolNames.filter { ProtocolFamily(ofProtocol: $0) != .proximity }
    return [
      "api_key": .string(playground.apiKey),
      "families": families(protocols),
      "documents": documents,
      "variant_groups": variantGroups(protocols),
      "codes": codes,
    ]
  }

  // MARK: What can be asked

  /// Protocols that a session may ask for together; every other alone.
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
    case "openid4vp-iso-18013-7-annex-b": "OpenID4VP of ISO/IEC TS 18013-7, Annex B"
    default: name
    }
  }

  /// The catalogue, a document type for each spelling, with what is asked for at first.
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

  /// The request that the variants' codes hold for.
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

  /// `protocols` are those for which the variant announces its codes.
  private static func variant(_ variant: MockVariant, _ protocols: [String]) -> JSON {
    [
      "name": .string(variant.name), "summary": .string(variant.summary),
      "codes": .array(variant.codes.map { .string($0.rawValue) }),
      "warnings": .array(variant.warnings.map { .string($0.rawValue) }),
      "protocols": .array(protocols.filter { variant.holds(over: $0) }.map { .string($0) }),
    ]
  }

  // MARK: What codes mean

  private static let codes: JSON = .array(
    Code.allCases.map { code in
      [
        "code": .string(code.rawValue), "summary": .string(code.entry.summary), "remedy": .string(code.entry.remedy),
      ]
    })
}
