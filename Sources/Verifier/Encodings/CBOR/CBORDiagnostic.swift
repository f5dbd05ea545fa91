import Base

/// Diagnostic notation (RFC 8949, 8) of a parsed item, indented.
package struct CBORDiagnostic: Sendable {
  /// Whether to show the values of data elements (`elementValue` and DeviceNameSpaces) and the content of all byte
  /// strings. Otherwise they are elided.
  package var showsValues: Bool

  package init(showsValues: Bool = false) { self.showsValues = showsValues }

  package func describe(_ item: CBORItem) -> String {
    var output = ""
    write(item, indent: 0, isPersonal: false, to: &output)
    return output
  }

  private func write(_ item: CBORItem, indent: Int, isPersonal: Bool, to output: inout String) {
    let isHidden = isPersonal && !showsValues
    switch item.kind {
    case .unsigned: output += isHidden ? "…" : "\(item.unsigned ?? 0)"
    case .negative: output += isHidden ? "…" : negative(item.negativeArgument ?? 0)
    case .bytes: writeBytes(item, isHidden: !showsValues, to: &output)
    case .text: output += isHidden ? "\"…\"" : quoted(item.text ?? "")
    case .array: writeArray(item, indent: indent, isPersonal: isPersonal, to: &output)
    case .map: writeMap(item, indent: indent, isPersonal: isPersonal, to: &output)
    case .tag: writeTag(item, indent: indent, isPersonal: isPersonal, to: &output)
    case .bool: output += isHidden ? "…" : (item.bool == true ? "true" : "false")
    case .null: output += "null"
    case .undefined: output += "undefined"
    case .float: output += isHidden ? "…" : float(item.double ?? 0)
    }
  }

  private func writeBytes(_ item: CBORItem, isHidden: Bool, to output: inout String) {
    let bytes = item.bytes ?? []
    output += isHidden && !bytes.isEmpty ? "h'…' /\(bytes.count) bytes/" : "h'\(Hex.encode(bytes))'"
  }

  private func writeArray(_ item: CBORItem, indent: Int, isPersonal: Bool, to output: inout String) {
    var isFirst = true
    output += "["
    for element in item.children {
      output += (isFirst ? "\n" : ",\n") + spaces(indent + 1)
      write(element, indent: indent + 1, isPersonal: isPersonal, to: &output)
      isFirst = false
    }
    output += isFirst ? "]" : "\n" + spaces(indent) + "]"
  }

  private func writeMap(_ item: CBORItem, indent: Int, isPersonal: Bool, to output: inout String) {
    var isFirst = true
    output += "{"
    for (key, value) in CBOREntries(children: item.children) {
      output += (isFirst ? "\n" : ",\n") + spaces(indent + 1)
      // Keys are names in the data model, not personal data, even inside element values.
      write(key, indent: indent + 1, isPersonal: false, to: &output)
      output += ": "
      let isElement = key.isText("elementValue") || (key.isText("nameSpaces") && value.tag == 24)
      write(value, indent: indent + 1, isPersonal: isPersonal || isElement, to: &output)
      isFirst = false
    }
    output += isFirst ? "}" : "\n" + spaces(indent) + "}"
  }

  private func writeTag(_ item: CBORItem, indent: Int, isPersonal: Bool, to output: inout String) {
    output += "\(item.tag ?? 0)("
    if let embedded = item.embedded {
      output += "<<"
      write(embedded, indent: indent, isPersonal: isPersonal, to: &output)
      output += ">>"
    } else {
      for content in item.children { write(content, indent: indent, isPersonal: isPersonal, to: &output) }
    }
    output += ")"
  }

  private func negative(_ argument: UInt64) -> String {
    argument == .max ? "-18446744073709551616" : "-\(argument + 1)"
  }

  private func float(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Infinity" : "Infinity" }
    return "\(value)"
  }

  private func quoted(_ text: String) -> String {
    var output = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": output += "\\\""
      case "\\": output += "\\\\"
      case "\n": output += "\\n"
      default: output += scalar.printable
      }
    }
    return output + "\""
  }

  private func spaces(_ indent: Int) -> String { String(repeating: "  ", count: indent) }
}
