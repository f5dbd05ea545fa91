import CBOR

/// Slips of wallets and issuers that are read past, with a warning.
///
/// Only what nobody signs is among them, and only where it can be read in one way: a member that must be left out and is
/// null, undefined or empty says nothing, and whoever could write it so could leave it out as well. What is signed, what
/// chooses between two readings, and what must be there is never made up for.
enum Slip {
  /// The member, or nil where it is left out, rightly or by writing nothing into it; the slip is noted.
  static func member(_ key: String, of item: CBORItem, into slips: inout [String]) -> CBORItem? {
    guard let value = item[key: key] else { return nil }
    guard let nothing = name(ofNothing: value) else { return value }
    slips.append("\(key) is \(nothing)")
    return nil
  }

  /// Notes a member that must not be empty where it is there (`{+ …}` and `[+ …]` in the standard's CDDL).
  static func noteIfEmpty(_ key: String, _ item: CBORItem?, into slips: inout [String]) {
    if item?.count == 0 { slips.append("\(key) is empty") }
  }

  /// Notes what stands for the unprotected header, which has its place even where it is empty (RFC 9052, 3), and for a
  /// detached payload.
  static func noteFields(of message: CBORItem?, _ name: String, into slips: inout [String]) {
    guard let fields = message?.elements.map(Array.init), fields.count == 4 else { return }
    if let nothing = self.name(ofNothing: fields[1]) { slips.append("\(name): the unprotected header is \(nothing)") }
    if fields[2].kind == .undefined { slips.append("\(name): the payload is undefined") }
  }

  private static func name(ofNothing item: CBORItem) -> String? {
    switch item.kind {
    case .null: "null"
    case .undefined: "undefined"
    default: nil
    }
  }
}
