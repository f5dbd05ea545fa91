/// The header fields of a message, in the order received, looked up without regard to case.
///
/// Values are valid UTF-8 without surrounding white space and without control characters other than tab; the transport
/// refuses a request with anything else before a handler sees it.
package struct HTTPHeaders: Sendable {
  /// Every field as received, repeated names included.
  package let fields: [(name: String, value: String)]

  package init(_ fields: [(name: String, value: String)] = []) {
    self.fields = fields
  }

  /// All values of a field, in order; empty when the field is absent.
  package func values(_ name: String) -> [String] {
    fields.filter { Self.sameName($0.name, name) }.map(\.value)
  }

  /// The value of a field that occurs exactly once; nil when it is absent *or repeated*.
  ///
  /// A repeated `Authorization` or `Idempotency-Key` has no single meaning, so that picking one would be a guess.
  package func single(_ name: String) -> String? {
    let all = values(name)
    return all.count == 1 ? all[0] : nil
  }

  package func contains(_ name: String) -> Bool {
    fields.contains { Self.sameName($0.name, name) }
  }

  /// Compares two field names by ASCII case folding (RFC 9110, 5.1).
  package static func sameName(_ left: String, _ right: String) -> Bool {
    left.utf8.count == right.utf8.count && zip(left.utf8, right.utf8).allSatisfy { lowercased($0) == lowercased($1) }
  }

  package static func lowercased(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
  }
}
