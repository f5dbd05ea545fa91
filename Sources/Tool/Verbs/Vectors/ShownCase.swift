import Base
import CBOR
import Longfellow
import Mdoc
import Vectors

/// A case taken apart, as text for people and as JSON.
struct ShownCase {
  private let group: String
  private let vector: TestVector
  private let comparison: Comparison?
  private let layers: [(title: String, text: String)]
  /// Nil if our verifier lacks what the case needs.
  private let judgement: Judgement?
  private let missing: String?
  private let checks: [(title: String, checks: [Check])]

  init(_ entry: VectorSuite.Entry, in suite: VectorSuite, circuits: CircuitLibrary?, showsValues: Bool) async {
    group = entry.group
    vector = entry.vector
    comparison = Comparison(of: entry.vector, in: suite)
    layers = entry.vector.layers.map { ($0.title, LayerText.text($0, showsValues: showsValues)) }
    let runner = VectorRunner(suite, circuits: circuits)
    missing = entry.vector.features.first(where: runner.missingFeatures.contains)
    let verifier = OwnVerifier(anchors: suite.anchors, circuits: circuits)
    judgement = missing == nil ? await verifier.judge(entry.vector) : nil
    checks = missing == nil ? await verifier.checks(of: entry.vector) : []
  }

  // MARK: Text

  func text(width: Int, style: Style, isInFull: Bool) -> String {
    var blocks = [head(width, style), verdicts(width, style)]
    if let comparison { blocks.append(text(of: comparison, width, style)) }
    if comparison == nil || isInFull { blocks += layers.map { style($0.title, .bold) + "\n" + $0.text } }
    let text = ChecksText(width: width, style: style)
    blocks += checks.map { text.block($0.title, isInFull ? $0.checks : $0.checks.filter(Self.isNotable)) }
    if !isInFull, !checks.isEmpty { blocks.append(rest) }
    return blocks.filter { !$0.isEmpty }.joined(separator: "\n\n")
  }

  private static func isNotable(_ check: Check) -> Bool { check.outcome == .failed || check.outcome == .warning }

  /// The number of the checks that are not listed.
  private var rest: String {
    let outcomes = checks.flatMap { $0.checks.map(\.outcome) }
    return
      "\(outcomes.count { $0 == .passed }) checks passed, \(outcomes.count { $0 == .notRun }) not run (--all shows each)"
  }

  private func head(_ width: Int, _ style: Style) -> String {
    let rows =
      [
        ("Group", group + (vector.cases.isEmpty ? "" : ", \(vector.cases.joined(separator: " "))")),
        ("Clause", vector.reference),
      ] + vector.flags.map { ("Catches", "\($0.name), \($0.bugClass.rawValue): \($0.bugClass.consequence)") }
      + [
        ("Protocol", vector.session.protocolName), ("Judged at", vector.validationTime.description),
        ("Anchors", vector.trustAnchors.isEmpty ? "none" : vector.trustAnchors.joined(separator: ", ")),
        ("Needs", vector.features.joined(separator: ", ")), ("Asked as", vector.askedID),
      ].filter { !$0.1.isEmpty }
    return style(Printable.line(vector.id), .bold) + "  "
      + Wrapping.wrap(Printable.line(vector.description), indent: 2, width: width - vector.id.count) + "\n"
      + table(rows, width)
  }

  private func verdicts(_ width: Int, _ style: Style) -> String {
    let expectation = vector.expectation
    let must = Self.text(
      isAccepted: expectation.isAccepted, stage: expectation.stage, codes: expectation.codes,
      warnings: expectation.warnings ?? [])
    guard let judgement else {
      let reason =
        "not judged here: needs \(missing ?? "")" + (missing?.hasPrefix("longfellow") == true ? " (--circuits)" : "")
      return table([("Must say", must), ("Ours says", reason)], width)
    }
    let ours = Self.text(
      isAccepted: judgement.isAccepted, stage: judgement.stage, codes: judgement.codes ?? [],
      warnings: judgement.warnings ?? [])
    let problem = expectation.problem(with: judgement)
    let mark = problem == nil ? style("as it must", .green) : style("NOT AS IT MUST: \(problem ?? "")", .bold, .red)
    return table([("Must say", must), ("Ours says", ours)], width) + "\n" + "             \(mark)"
  }

  private static func text(isAccepted: Bool, stage: VectorStage?, codes: [String], warnings: [String]) -> String {
    guard isAccepted else {
      return "refused" + (stage.map { " at \($0.rawValue)" } ?? "") + " with \(codes.joined(separator: ", "))"
    }
    return warnings.isEmpty ? "accepted" : "accepted, warning of \(warnings.joined(separator: ", "))"
  }

  private func text(of comparison: Comparison, _ width: Int, _ style: Style) -> String {
    let parts = comparison.parts.map { part in
      let shown = part.differences.prefix(Self.shownDifferences)
      let rest = part.differences.count - shown.count
      return
        ([style("Other than in \(comparison.id): \(part.title)", .bold)] + shown.map { text(of: $0, width, style) }
        + (rest > 0 ? ["  and \(rest) more (--json has them)"] : [])).joined(separator: "\n")
    }
    return parts.joined(separator: "\n\n")
  }

  private func text(of difference: Comparison.Difference, _ width: Int, _ style: Style) -> String {
    func line(_ label: String, _ text: String, _ emphasis: Style.Emphasis) -> String {
      "    " + style(label, emphasis) + " " + Wrapping.wrap(Printable.line(text), indent: 6, width: width)
    }
    let lines = [difference.right.map { line("-", $0, .red) }, difference.this.map { line("+", $0, .green) }]
    return (["  " + Printable.line(difference.path)] + lines.compactMap { $0 }).joined(separator: "\n")
  }

  /// Of each layer. What follows from a fault in many places is seen in the first ones.
  private static let shownDifferences = 40

  private func table(_ rows: [(String, String)], _ width: Int) -> String {
    Wrapping.columns(rows.map { (Wrapping.padded($0.0, to: 9), Printable.line($0.1)) }, width: width)
  }

  // MARK: JSON

  var json: JSON {
    let expectation = vector.expectation
    return [
      "id": .string(vector.id), "asked_id": .string(vector.askedID), "group": .string(group),
      "description": .string(vector.description), "reference": .string(vector.reference),
      "cases": Self.strings(vector.cases),
      "flags": .array(
        vector.flags.map {
          [
            "name": .string($0.name), "bug_class": .string($0.bugClass.rawValue),
            "consequence": .string($0.bugClass.consequence),
          ]
        }),
      "features": Self.strings(vector.features), "protocol": .string(vector.session.protocolName),
      "validation_time": .string(vector.validationTime.description),
      "expected": Self.verdict(
        expectation.isAccepted, expectation.stage, expectation.codes, expectation.warnings ?? []),
      "got": judgement.map {
        Self.verdict($0.isAccepted, $0.stage, $0.codes ?? [], $0.isAccepted ? $0.warnings ?? [] : [])
      } ?? .null,
      "as_expected": judgement.map { .bool(expectation.problem(with: $0) == nil) } ?? .null,
      "checks": .array(checks.map { ["of": .string($0.title), "checks": .array($0.checks.map(\.json))] }),
      "compared_with": comparison.map { .string($0.id) } ?? .null,
      "differences": .array(
        (comparison?.parts ?? []).flatMap { part in part.differences.map { Self.json($0, part.title) } }),
      "layers": .array(layers.map { ["title": .string($0.title), "text": .string($0.text)] }),
    ]
  }

  private static func json(_ difference: Comparison.Difference, _ title: String) -> JSON {
    [
      "in": .string(title), "path": .string(difference.path),
      "right": difference.right.map { .string($0) } ?? .null, "this": difference.this.map { .string($0) } ?? .null,
    ]
  }

  private static func verdict(_ isAccepted: Bool, _ stage: VectorStage?, _ codes: [String], _ warnings: [String])
    -> JSON
  {
    [
      "verdict": isAccepted ? "accepted" : "rejected", "stage": stage.map { .string($0.rawValue) } ?? .null,
      "codes": strings(codes), "warnings": strings(warnings),
    ]
  }

  private static func strings(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
}

/// A layer of an answer as `mdoc inspect` shows it, cut off where it is endless.
private enum LayerText {
  private static let lines = 400

  static func text(_ layer: AnswerLayer, showsValues: Bool) -> String {
    switch layer.content {
    case .json(let json): return cut(String(decoding: json.serialized(pretty: true), as: UTF8.self))
    case .bytes(let bytes): return "\(bytes.count) bytes, neither CBOR nor JSON: h'\(start(of: bytes))'"
    case .cbor(let bytes):
      do throws(CBORError) {
        let limits = CBORLimits(bytes: FileAccess.limit, items: 1 << 20, depth: 64)
        return cut(CBORDiagnostic(showsValues: showsValues).describe(try CBORItem(parsing: bytes, limits: limits)))
      } catch {
        return "\(bytes.count) bytes that are no CBOR: \(error.code.rawValue) at byte \(error.offset): "
          + "\(error.code.entry.summary)\nh'\(start(of: bytes))'"
      }
    }
  }

  private static func start(of bytes: [UInt8]) -> String {
    Hex.encode(Array(bytes.prefix(64))) + (bytes.count > 64 ? "…" : "")
  }

  private static func cut(_ text: String) -> String {
    let all = text.split(separator: "\n", omittingEmptySubsequences: false)
    guard all.count > lines else { return Printable.lines(all) }
    return Printable.lines(all.prefix(lines)) + "\n… and \(all.count - lines) lines more"
  }
}

extension Printable {
  fileprivate static func lines(_ lines: some Sequence<Substring>) -> String {
    lines.map { line(String($0)) }.joined(separator: "\n")
  }
}
