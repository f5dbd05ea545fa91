/// A name that a wallet chose, fit for a report or log line: at most `limit` bytes, without control characters, line
/// breaks, or marks that change how the text around them is displayed.
func shown(_ name: String, limit: Int = 64) -> String {
  if name.utf8.count <= limit, name.utf8.allSatisfy({ (0x20..<0x7f).contains($0) }) { return name }
  var output = ""
  for scalar in name.unicodeScalars {
    let next = isPlain(scalar) ? Character(scalar) : "\u{fffd}"
    guard output.utf8.count + next.utf8.count <= limit else { return output + "…" }
    output.unicodeScalars.append(contentsOf: next.unicodeScalars)
  }
  return output
}

private func isPlain(_ scalar: Unicode.Scalar) -> Bool {
  switch scalar.properties.generalCategory {
  case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
  default: true
  }
}

/// Element names for a check's detail: bounded, because a wallet chooses them.
func names(_ elements: [ElementReference]) -> String? {
  guard !elements.isEmpty else { return nil }
  let shownElements = elements.prefix(8).map { "\(shown($0.namespace)) \(shown($0.identifier))" }
  return shownElements.joined(separator: ", ")
    + (elements.count > shownElements.count ? " and \(elements.count - shownElements.count) more" : "")
}
