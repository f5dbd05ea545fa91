/// An element of a namespace: its identifier, its types, what to call it before people.
public struct ElementDefinition: Sendable, Hashable {
  public enum Presence: Sendable, Hashable { case mandatory, optional }

  public let identifier: String
  public let types: ElementTypes
  /// In English, for people.
  public let label: String
  public let presence: Presence

  /// Whether every document of the type has it.
  public var isMandatory: Bool { presence == .mandatory }

  init(_ identifier: String, _ types: ElementTypes, _ label: String, _ presence: Presence = .optional) {
    self.identifier = identifier
    self.types = types
    self.label = label
    self.presence = presence
  }
}

/// The elements of one namespace, as one document type uses it.
public struct NamespaceDefinition: Sendable, Hashable {
  public let name: String
  /// In English, for people.
  public let label: String
  /// In the order of the standard.
  public let elements: [ElementDefinition]
  /// Whether it also has `age_over_NN`, for any two digits (ISO/IEC 18013-5:2021, 7.2.5).
  public let hasAgeAttestations: Bool

  init(
    _ name: String, _ label: String, hasAgeAttestations: Bool = false, _ elements: [ElementDefinition]
  ) {
    self.name = name
    self.label = label
    self.elements = elements
    self.hasAgeAttestations = hasAgeAttestations
  }
}
