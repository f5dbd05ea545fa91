/// Items hold what wallets sent: neither logs nor error messages are to show it by accident.
extension CBORItem: CustomStringConvertible, CustomReflectable {
  package var description: String { "CBORItem(\(kind), \(encoded.count) bytes)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
