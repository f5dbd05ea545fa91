import Base

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

  /// UTF-8 with every control of the second block (C1) and every directional control as `\\uXXXX`, which in a string of
  /// JSON is the same character.
  static func withoutHiddenControls(_ text: [UInt8]) -> [UInt8] {
    // What they begin with, or are: most texts have none of these bytes.
    guard text.contains(where: { [0x7f, 0xc2, 0xd8, 0xe2].contains($0) }) else { return text }
    var output: [UInt8] = []
    output.reserveCapacity(text.count)
    for scalar in String(decoding: text, as: UTF8.self).unicodeScalars {
      if scalar.isHiddenControl {
        let digits = String(scalar.value, radix: 16)
        output += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8
      } else {
        output += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
      }
    }
    return output
  }
}
