import Base
import CBOR
import PKIX

/// The document types of the standards and their elements: the one place that knows their names, types and labels.
///
/// It judges nothing that it does not list: other document types and elements pass through, typed by their CBOR.
/// Names compare by their bytes.
public enum DocTypeCatalogue {
  public static let all: [DocTypeDefinition] = [
    .mDL, .photoID, .europeanPID, .europeanAgeVerification, .japanMyNumber,
  ]

  /// The definition that has this spelling of a document type; nil if none is listed.
  public static func definition(of docType: String) -> DocTypeDefinition? {
    all.first { definition in definition.spellings.contains { $0.hasSameBytes(as: docType) } }
  }

  /// The namespace that holds a document type's age elements. For an unknown type it is the type's own name, as in the
  /// types of the EU.
  public static func ageNamespace(ofDocType docType: String) -> String {
    definition(of: docType)?.ageNamespace ?? docType
  }

  /// The default extended key usages for signers of a document type; a signer must have one of them. For a type that is
  /// not listed, they are those that ISO/IEC 18013-5 and 23220-4 have for signers of any mdoc, and none that a wider
  /// profile has.
  public static func signerUsages(of docType: String) -> Set<String> {
    definition(of: docType)?.signerUsages ?? CertificateRole.documentSigner.extendedKeyUsages
  }

  /// The types that the element must have and the value has not; nil if it has one of them, or none is prescribed.
  static func expectedTypes(of element: ElementReference, violatedBy item: CBORItem) -> ElementTypes? {
    types[element].flatMap { $0.allows(item) ? nil : $0 }
  }

  /// Whether a proof may show the element: it has no parts, and is no image or other long string of bytes.
  static func isProvable(_ element: ElementReference) -> Bool {
    guard let types = types[element], types != .notPrescribed else { return true }
    return !types.isDisjoint(with: [.text, .bool, .unsigned, .fullDate, .dateTime])
  }

  /// The types of every listed element. They are a table, because they are looked up for each element of each answer.
  private static let types: [ElementReference: ElementTypes] = {
    var types: [ElementReference: ElementTypes] = [:]
    for namespace in all.flatMap(\.namespaces) {
      let ages = namespace.hasAgeAttestations ? (0...99).map { ElementDefinition.attestation(ofAge: $0) } : []
      for element in namespace.elements + ages {
        // A namespace that two types share has the elements of both.
        types[ElementReference(namespace.name, element.identifier), default: []].formUnion(element.types)
      }
    }
    return types
  }()

  /// A listed element of the type whose spelling is one slip away, for error texts.
  public static func neighbour(of element: ElementReference, inDocType docType: String) -> ElementReference? {
    guard let definition = definition(of: docType), definition.element(element) == nil else { return nil }
    let candidates = definition.namespaces.flatMap { namespace in
      namespace.elements.map { ElementReference(namespace.name, $0.identifier) }
    }
    return candidates.first { candidate in
      // Only one of the two names may have a slip.
      candidate.identifier.hasSameBytes(as: element.identifier)
        ? Spelling.isOneSlip(candidate.namespace, element.namespace)
        : candidate.namespace.hasSameBytes(as: element.namespace)
          && Spelling.isOneSlip(candidate.identifier, element.identifier)
    }
  }
}

/// Names of document types that the standards give, used by more than one rule.
public enum DocType {
  public static let mDL = TrustAnchor.mDL
  public static let photoID = "org.iso.23220.photoid.1"
  /// The spelling of drafts of ISO/IEC 23220-4 before 2025-12. On the wire it is another document type.
  public static let photoIDDraft = "org.iso.23220.photoID.1"
  public static let europeanPID = "eu.europa.ec.eudi.pid.1"
  public static let europeanAgeVerification = "eu.europa.ec.av.1"
  public static let japanMyNumber = "org.iso.23220.1.jp.mnc"
}

/// Names of namespaces that the standards give.
public enum Namespace {
  public static let mDL = "org.iso.18013.5.1"
  public static let aamva = "org.iso.18013.5.1.aamva"
  public static let iso23220 = "org.iso.23220.1"
  public static let iso23220PhotoID = DocType.photoID
  public static let iso23220DataGroups = "org.iso.23220.datagroups.1"
  /// The names that drafts of 2024 gave to the two.
  public static let iso23220PhotoIDDraft = DocType.photoIDDraft
  public static let iso23220TravelDocument = "org.iso.23220.dtc.1"
  public static let iso23220Japan = "org.iso.23220.1.jp"
  public static let europeanPID = DocType.europeanPID
  public static let europeanAgeVerification = DocType.europeanAgeVerification
}
