import Primitives

/// Text from elsewhere, made safe to print: nothing in it can steer the terminal or change how the text around it
/// reads.
enum Printable {
  /// One line.
  static func line(_ text: String) -> String {
    var output = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\n": output += "\\n"
      case "\t": output += "\\t"
      default: output += scalar.printable
      }
    }
    return output
  }
}
