import Base

/// One accepted document as text for people: its issuer and its elements. The JSON is an item of `result.documents` of
/// the HTTP API.
struct DocumentText {
  let json: JSON
  let width: Int
  let style: Style

  var text: String {
    var blocks = [style(Printable.line(json["doc_type"]?.string ?? "document"), .bold) + "\n" + table(facts)]
    blocks += elements(json["elements"], note: "")
    blocks += elements(json["device_signed_elements"], note: " (signed by the device, not attested)")
    if !ages.isEmpty { blocks.append(style("  Age", .bold) + "\n" + table(ages, indent: 4)) }
    return blocks.joined(separator: "\n\n")
  }

  private var facts: [(String, String)] {
    let issuer = json["issuer"]
    let place = [issuer?["country"]?.string, issuer?["state_or_province"]?.string].compactMap { $0 }
    let names = [issuer?["common_name"]?.string, place.isEmpty ? nil : "(\(place.joined(separator: ", ")))"]
    var rows = [
      ("Issuer", names.compactMap { $0 }.joined(separator: " ")),
      ("Certificate", issuer?["certificate_sha256"]?.string ?? ""),
      ("Anchor", issuer?["anchor_sha256"]?.string ?? ""),
      ("Proven by", json["proven_by"]?.string == "zero_knowledge" ? "zero-knowledge proof" : ""),
      ("Signed", time("signed")),
      ("Valid", json["validity"]?.isNull == true ? "" : "\(time("valid_from")) to \(time("valid_until"))"),
      ("Device", (json["device_authentication"]?.string ?? "").replacing("_", with: " ")),
      ("Revocation", (json["revocation"]?.string ?? "").replacing("_", with: " ")),
    ]
    for (label, member) in [("Missing", "missing_elements"), ("Not asked for", "unrequested_elements")] {
      let names = json[member]?.array?.compactMap { $0["identifier"]?.string } ?? []
      if !names.isEmpty { rows.append((label, names.joined(separator: ", "))) }
    }
    return rows.filter { !$0.1.isEmpty }
  }

  private var ages: [(String, String)] {
    (json["age_over"]?.array ?? []).map { answer in
      (
        "at least \(answer["threshold"]?.integer ?? 0)",
        (answer["answer"]?.bool == true ? "yes" : "no")
          + (answer["proved_by"]?["identifier"]?.string.map { ", by \($0)" } ?? "")
      )
    }
  }

  private func elements(_ namespaces: JSON?, note: String) -> [String] {
    (namespaces?.object ?? []).map { namespace in
      let rows = (namespace.value.object ?? []).flatMap { ElementText.rows($0.name, $0.value) }
      return "  " + style(Printable.line(namespace.name), .bold) + note + "\n" + table(rows, indent: 4)
    }
  }

  private func time(_ member: String) -> String {
    json["validity"]?[member]?.integer.map { "\(Timestamp(secondsSince1970: $0))" } ?? ""
  }

  private func table(_ rows: [(String, String)], indent: Int = 2) -> String {
    Wrapping.columns(
      rows.map { (Printable.line($0.0), Printable.line($0.1)) }, indent: indent, leftLimit: 36, width: width)
  }
}

/// A data element's value on one line; a list has one line for each entry.
enum ElementText {
  static func rows(_ name: String, _ value: JSON) -> [(String, String)] {
    guard let entries = value.array, entries.count > 1 else { return [(name, line(value))] }
    return entries.enumerated().map { index, entry in (index == 0 ? name : "", line(entry)) }
  }

  private static func line(_ value: JSON, isNested: Bool = false) -> String {
    switch value {
    case .string(let text): text.isEmpty ? "(empty)" : text
    case .bool(let flag): flag ? "true" : "false"
    case .array(let elements): "[" + elements.map { line($0, isNested: true) }.joined(separator: ", ") + "]"
    case .object(let members): binary(value) ?? map(members, isNested: isNested)
    case .integer, .largeInteger, .double, .null, .written: value.text()
    }
  }

  private static func map(_ members: [JSON.Member], isNested: Bool) -> String {
    let text = members.map { "\($0.name): \(line($0.value, isNested: true))" }.joined(separator: ", ")
    return isNested || members.isEmpty ? "{\(text)}" : text
  }

  /// Describes bytes instead of showing them; nil if the value is not binary. Binary values are `{"media_type"?,
  /// "base64"}`.
  private static func binary(_ value: JSON) -> String? {
    guard let base64 = value["base64"]?.string, value.object?.allSatisfy({ isOfBinary($0.name) }) == true else {
      return nil
    }
    let padding = base64.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
    return "\(value["media_type"]?.string ?? "binary"), \(base64.utf8.count / 4 * 3 - padding) bytes"
  }

  private static func isOfBinary(_ name: String) -> Bool { name == "base64" || name == "media_type" }
}
