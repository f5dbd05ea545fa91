import Base

/// A data element by its namespace and identifier, which are never joined into one string: both may contain dots.
///
/// Two references are equal where their bytes are: what is signed, authorised and requested is decided by bytes.
public struct ElementReference: Sendable, Hashable {
  public let namespace: String
  public let identifier: String

  public init(_ namespace: String, _ identifier: String) {
    self.namespace = namespace
    self.identifier = identifier
  }

  public static func == (left: ElementReference, right: ElementReference) -> Bool {
    left.identifier.hasSameBytes(as: right.identifier) && left.namespace.hasSameBytes(as: right.namespace)
  }

  public func hash(into hasher: inout Hasher) {
    ExactText(identifier).hash(into: &hasher)
    ExactText(namespace).hash(into: &hasher)
  }
}
