import Base
import PKIX

/// A document type that the standards describe, with its namespaces.
public struct DocTypeDefinition: Sendable, Hashable {
  public let docType: String
  /// Other spellings in circulation. Each is a document type of its own on the wire: a request for one is no request
  /// for another.
  public let aliases: [String]
  /// In English, for people.
  public let label: String
  /// Where it is specified.
  public let source: String
  /// Extended key usages of which a document signer has one, as dotted identifiers.
  public let signerUsages: Set<String>
  public let namespaces: [NamespaceDefinition]

  init(
    _ docType: String, aliases: [String] = [], _ label: String, source: String,
    signerUsages: Set<String> = CertificateRole.documentSigner.extendedKeyUsages, _ namespaces: [NamespaceDefinition]
  ) {
    self.docType = docType
    self.aliases = aliases
    self.label = label
    self.source = source
    self.signerUsages = signerUsages
    self.namespaces = namespaces
  }

  /// The spelling in force and the others.
  public var spellings: [String] { [docType] + aliases }

  /// Where its `age_over_NN`, `age_in_years`, `age_birth_year` and `birth_date` are.
  public var ageNamespace: String { namespaces.first(where: \.hasAgeAttestations)?.name ?? docType }

  /// The element, age attestations among them.
  public func element(_ reference: ElementReference) -> ElementDefinition? {
    guard let namespace = namespaces.first(where: { $0.name.hasSameBytes(as: reference.namespace) }) else { return nil }
    if let element = namespace.elements.first(where: { $0.identifier.hasSameBytes(as: reference.identifier) }) {
      return element
    }
    guard namespace.hasAgeAttestations, let age = AgeAttestations.age(of: reference.identifier) else { return nil }
    return .attestation(ofAge: age)
  }
}

extension Set<String> {
  /// Of the EU's documents: the usage that their profile gives signers, or one of those that ISO has for any mdoc.
  static let europeanSignerUsages = CertificateRole.documentSigner.extendedKeyUsages.union(["1.3.130.2.0.0.1.2"])
}

extension ElementDefinition {
  static func attestation(ofAge age: Int, _ presence: Presence = .optional) -> ElementDefinition {
    ElementDefinition(AgeAttestations.identifier(for: age), .bool, "Age \(age) or over", presence)
  }
}
