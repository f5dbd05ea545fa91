/// Text as it may stand in XML and HTML, in content and in quoted attributes alike.
///
/// Characters that XML 1.0 has not are replaced: what another verifier answers must not break the report.
func escaped(_ text: String) -> String {
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
