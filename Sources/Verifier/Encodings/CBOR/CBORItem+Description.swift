/// Items hold what wallets sent: neither logs nor error messages are to show it by accident.
extension CBORItem: CustomStringConvertible, CustomReflectable {
  public var description: String { "CBORItem(\(kind), \(encoded.count) bytes)" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
