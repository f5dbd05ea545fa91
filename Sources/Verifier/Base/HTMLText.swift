/// Text as it stands in HTML and XML.
package enum HTMLText {
  /// The text with the characters escaped that both reserve, for content and for quoted attributes.
  ///
  /// Characters that XML 1.0 does not allow are replaced, so that what a page quotes cannot break it.
  package static func escaped(_ text: String) -> String {
    var output = ""
    for character in text.unicodeScalars {
      switch character {
      case "&": output += "&amp;"
      case "<": output += "&lt;"
      case ">": output += "&gt;"
      case "\"": output += "&quot;"
      case "'": output += "&#39;"
      case "\t", "\n", "\r", "\u{20}"..."\u{7e}", "\u{a0}"..."\u{d7ff}", "\u{e000}"..."\u{fffd}",
        "\u{10000}"..."\u{10ffff}":
        output.unicodeScalars.append(character)
      default: output += "\u{fffd}"
      }
    }
    return output
  }
}
