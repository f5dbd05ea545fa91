import Base

/// One accepted document for people: who issued it and its elements. `result.documents[]` of the HTTP API.
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
      ("Signed", time("signed")), ("Valid", "\(time("valid_from")) to \(time("valid_until"))"),
      ("Device", json["device_authentication"]?.string ?? ""),
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
