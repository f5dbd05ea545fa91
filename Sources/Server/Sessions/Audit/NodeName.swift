/// The name of one server process among those that share a store, or of one server: 1 to 63 of `a-z 0-9 . -`.
///
/// It names a chain of audit entries. Processes of one name on one store write one chain.
package struct NodeName: Sendable, Hashable, Comparable, CustomStringConvertible {
  package let text: String

  /// Nil where the text is no name.
  package init?(_ text: String) {
    let isValid = text.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
      default: byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
      }
    }
    guard isValid, (1...63).contains(text.utf8.count) else { return nil }
    self.text = text
  }

  private init(unchecked text: String) { self.text = text }

  /// Of a server that is alone and was given no name.
  package static let standard = NodeName(unchecked: "node")

  package static func < (left: NodeName, right: NodeName) -> Bool { left.text < right.text }

  package var description: String { text }
}
