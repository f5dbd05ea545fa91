import Base

/// A human-readable verdict, made from the JSON of the HTTP API. `mdoc verify` prints its own verdict. `mdoc demo`
/// prints the verdicts of its sessions. The server's report page contains only the report.
package struct VerdictText {
  /// An object with `last_error`, `result` and `report`, or with a `report` only.
  private let json: JSON
  /// Whether a page shows the images among the elements. Only requested images are shown.
  private let showsImages: Bool

  package init(json: JSON, showsImages: Bool = false) { (self.json, self.showsImages) = (json, showsImages) }

  package var report: [Report] {
    let documents = json["result"]?["documents"]?.array ?? []
    return [.section(headline)]
      + documents.map { .section(DocumentText(json: $0, showsImages: showsImages).report) } + checks
  }

  // MARK: Headline

  /// The verdict in one line. If the response is rejected, every reason and its remedy follow.
  package var headline: [Report] {
    let error = json["last_error"] ?? .null
    let given = error["reasons"]?.array ?? []
    // For a report without its session, the response was rejected if and only if a check failed. This includes checks
    // of newer versions.
    let failed = writtenChecks.filter { $0["outcome"]?.string == Check.Outcome.failed.rawValue }
    let reasons = (json["last_error"] == nil ? failed : given.isEmpty ? [error] : given)
      .compactMap { $0["code"]?.string.flatMap(Code.init(rawValue:)) }.unique
    let time = json["report"]?["verified_at"]?.integer.map { " at \(Timestamp(secondsSince1970: $0))" } ?? ""
    guard let first = reasons.first else {
      return json["last_error"] == nil && !failed.isEmpty ? [.verdict([.bad("REJECTED"), "\(time)"])] : verified(time)
    }
    let lines = reasons.flatMap { code -> [Report] in
      [
        .line("  ", .bold(code.rawValue), "\(details(of: code, .failed))"),
        .paragraph("\(code.entry.summary).", lead: "    "),
      ]
    }
    return [.verdict([.bad(Self.declining.contains(first) ? "DECLINED" : "REJECTED"), "\(time)"])] + lines
      + remedies(of: reasons)
  }

  private func verified(_ time: String) -> [Report] {
    let code = Code.nothingDisclosed
    guard allChecks.contains(where: { $0.code == code && $0.outcome == .warning }) else {
      return [.verdict([.good("VERIFIED"), "\(time)"])]
    }
    return [
      .verdict([.caution("VERIFIED, BUT NOTHING WAS DISCLOSED"), "\(time)"]),
      .paragraph("\(code.entry.summary)\(details(of: code, .warning))."),
    ] + remedies(of: [code])
  }

  /// If the first reason is one of these codes, the response is genuine but does not satisfy the request.
  private static let declining: Set<Code> = [
    .elementMissing, .elementUnexpected, .documentMissing, .ageContradictory, .ageInconsistent, .ageBelowMinimum,
    .documentExpired, .nothingDisclosed,
  ]

  /// Codes with the same remedy share a line. If there are several remedies, each line lists its codes.
  private func remedies(of codes: [Code]) -> [Report] {
    let remedies = codes.map(\.entry.remedy).unique
    return remedies.map { remedy in
      let about = codes.filter { $0.entry.remedy == remedy }.map(\.rawValue).joined(separator: ", ")
      return .paragraph(remedies.count == 1 ? "\(remedy)" : "(\(about)) \(remedy)", lead: "  What to do: ", hanging: 4)
    }
  }

  /// The report's details for a check with this outcome, such as the names of elements or of a certificate.
  private func details(of code: Code, _ outcome: Check.Outcome) -> String {
    let details = allChecks.filter { $0.code == code && $0.outcome == outcome }.compactMap(\.detail)
    return details.isEmpty ? "" : ": " + details.joined(separator: "; ")
  }

  // MARK: Checks

  private var allChecks: [Check] { writtenChecks.compactMap(Check.init) }

  private var writtenChecks: [JSON] { Self.checks(json["report"]) + reportedDocuments.flatMap(Self.checks) }

  private var reportedDocuments: [JSON] { json["report"]?["documents"]?.array ?? [] }

  private static func checks(_ report: JSON?) -> [JSON] { report?["checks"]?.array ?? [] }

  private var checks: [Report] {
    guard let report = json["report"], !report.isNull else { return [] }
    let documents = reportedDocuments.enumerated().map { index, document in
      let title = reportedDocuments.count == 1 ? "Checks of the document" : "Checks of document \(index + 1)"
      return Report.checks(title, Self.checks(document).compactMap(Check.init))
    }
    let facts = [("Trust snapshot", "trust_snapshot"), ("Report", "id"), ("Revocation policy", "revocation_policy")].map
    {
      Report.row($0, report[$1]?.string)
    }
    return [.checks("Checks of the response", Self.checks(report).compactMap(Check.init))] + documents
      + [.section([.line("\(Report.counts(of: allChecks))")] + facts)]
  }
}

extension Check {
  /// A check of a report in JSON; nil if this program does not know its code or outcome.
  fileprivate init?(_ json: JSON) {
    guard let code = json["code"]?.string.flatMap(Code.init(rawValue:)),
      let outcome = json["outcome"]?.string.flatMap(Outcome.init(rawValue:))
    else { return nil }
    self.init(code, outcome, detail: json["detail"]?.string, clause: json["clause"]?.string)
  }
}

/// One accepted document as text: its issuer and its elements.
struct DocumentText {
  /// An item of `result.documents` of the HTTP API.
  let json: JSON
  let showsImages: Bool

  var report: [Report] {
    let ages = (json["age_over"]?.array ?? []).map { age in
      (
        "at least \(age["threshold"]?.integer ?? 0)",
        (age["answer"]?.bool == true ? "yes" : "no")
          + (age["proved_by"]?["identifier"]?.string.map { ", by \($0)" } ?? "")
      )
    }
    return [.heading(json["doc_type"]?.string ?? "document")] + facts
      + elements(json["elements"], note: "")
      + elements(json["device_signed_elements"], note: " (signed by the device, not attested)")
      + [.section(ages.isEmpty ? [] : [.heading("Age", level: 2), .table(ages, indent: 4)])]
  }

  private var facts: [Report] {
    let issuer = json["issuer"]
    let region = [issuer?["country"]?.string, issuer?["state_or_province"]?.string].compactMap { $0 }
    let names = [issuer?["common_name"]?.string, region.isEmpty ? nil : "(\(region.joined(separator: ", ")))"]
    let (signed, from, until) = (time("signed"), time("valid_from"), time("valid_until"))
    return [
      row("Issuer", names.compactMap { $0 }.joined(separator: " ")),
      row("Certificate", issuer?["certificate_sha256"]?.string), row("Anchor", issuer?["anchor_sha256"]?.string),
      row("Proven by", json["proven_by"]?.string == "zero_knowledge" ? "zero-knowledge proof" : nil),
      row("Signed", signed), row("Valid", json["validity"]?.isNull == true ? nil : "\(from ?? "") to \(until ?? "")"),
      row("Device", json["device_authentication"]?.string?.replacing("_", with: " ")),
      row("Revocation", json["revocation"]?.string?.replacing("_", with: " ")),
      row("Missing", identifiers("missing_elements")), row("Not asked for", identifiers("unrequested_elements")),
    ]
  }

  private func row(_ label: String, _ text: String?) -> Report { .row(label, text?.isEmpty == false ? text : nil) }

  private func identifiers(_ member: String) -> String? {
    json[member]?.array?.compactMap { $0["identifier"]?.string }.joined(separator: ", ")
  }

  private func time(_ member: String) -> String? {
    json["validity"]?[member]?.integer.map { "\(Timestamp(secondsSince1970: $0))" }
  }

  private func elements(_ namespaces: JSON?, note: String) -> [Report] {
    (namespaces?.object ?? []).map { namespace in
      let rows = (namespace.value.object ?? []).flatMap { Self.rows($0.name, $0.value) }
      let images = showsImages ? (namespace.value.object ?? []).compactMap(Self.image) : []
      return .section(
        [.heading(namespace.name, note: note, level: 2), .table(rows, indent: 4, leftLimit: 36)] + images)
    }
  }

  /// The image of an element's value; nil if browsers cannot show the value.
  private static func image(_ element: JSON.Member) -> Report? {
    guard let type = element.value["media_type"]?.string, ["image/jpeg", "image/png"].contains(type),
      let base64 = element.value["base64"]?.string
    else { return nil }
    return .image(element.name, mediaType: type, base64: base64)
  }

  // MARK: Values

  /// An element's value on one line; a list has one line for each entry.
  private static func rows(_ name: String, _ value: JSON) -> [(String, String)] {
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

  /// Describes bytes (`{"media_type"?, "base64"}`) instead of showing them; nil if the value is not binary.
  private static func binary(_ value: JSON) -> String? {
    guard let base64 = value["base64"]?.string,
      value.object?.allSatisfy({ $0.name == "base64" || $0.name == "media_type" }) == true
    else { return nil }
    let padding = base64.utf8.suffix(2).count { $0 == UInt8(ascii: "=") }
    return "\(value["media_type"]?.string ?? "binary"), \(base64.utf8.count / 4 * 3 - padding) bytes"
  }
}
