import Base
import CBOR
import Longfellow
import Mdoc
import Vectors

enum VectorsShow {
  static let command = Command(
    "show", "show a case's fault and its position, the expected verdict and ours",
    options: [.suite, .circuits, .all, .showValues, .json],
    operand: Operand(placeholder: "ID", help: "a case, or its id in a harness's questions"),
    notes: [
      "The case is compared with the most similar right case; if there is none, the decoded response is shown. "
        + "Signatures differ if the signed content differs. All values and persons are made up.",
      "Exit status: 0 shown, 64 usage or no such case, 65 the suite cannot be read.",
    ],
    examples: [
      .init("Show the fault of a case", "mdoc vectors show element-twice"),
      .init("Show the decoded response and every check too", "mdoc vectors show element-twice --all"),
      .init("Show a case by the id in a harness's log", "mdoc vectors show 02d1c2a1f0b34c55"),
    ], work: run)

  private static func run(_ arguments: Arguments) async throws(Failure) {
    let suite = try VectorsCommand.suite(arguments)
    let entry = try VectorsCommand.entry(arguments.operands[0], in: suite)
    let shown = await ShownCase(
      entry, in: suite, circuits: try arguments.circuitLibrary(),
      showsValues: arguments.has(.showValues))
    arguments.print(shown.report(isInFull: arguments.has(.all)))
  }
}

extension Option { fileprivate static let all = Option(flag: "all", "show the decoded response and every check too") }

/// A case with its inputs, its verdict and its fault.
struct ShownCase {
  private let group: String
  private let vector: TestVector
  private let comparison: Comparison?
  private let layers: [(title: String, text: String)]
  /// Our judgement; nil if our verifier lacks a feature of the case.
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

  func report(isInFull: Bool) -> [Report] {
    let shownChecks = checks.map { title, checks in
      Report.listed(title, isInFull ? checks : checks.filter(\.isNotable), as: nil)
    }
    let all = checks.flatMap(\.checks)
    let rest =
      "\(all.count { $0.outcome == .passed }) checks passed, \(all.count { $0.outcome == .notRun }) not run "
      + "(--all shows each)"
    return [members, head, verdicts] + differences
      + (comparison == nil || isInFull ? layers.map { .section([.line(.bold($0.title)), .verbatim($0.text)]) } : [])
      + shownChecks + (isInFull || checks.isEmpty ? [] : [.note("\(rest)")])
  }

  private var head: Report {
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
    return .section([.text(["\(vector.description)"], lead: [.bold(vector.id), "  "], hanging: 2), Self.table(rows)])
  }

  private var verdicts: Report {
    let expectation = vector.expectation
    let must = Verdict(expectation).text
    guard let judgement else {
      let reason =
        "not judged here: needs \(missing ?? "")" + (missing?.hasPrefix("longfellow") == true ? " (--circuits)" : "")
      return .section([Self.table([("Must say", must), ("Ours says", reason)])])
    }
    let problem = expectation.problem(with: judgement)
    return .section([
      Self.table([("Must say", must), ("Ours says", Verdict(judgement).text)]),
      .line("             ", problem.map { .bad("NOT AS EXPECTED: \($0)") } ?? Span("as expected", .green)),
    ])
  }

  /// The differences of each layer. Later differences often follow from the first.
  private var differences: [Report] {
    (comparison?.parts ?? []).map { part in
      let shown = part.differences.prefix(40)
      let rest = part.differences.count - shown.count
      return .section(
        [.line(.bold("Differs from \(comparison?.id ?? ""): \(part.title)"))]
          + shown.flatMap { difference -> [Report] in
            [.line("  \(difference.path)")]
              + [(Span("-", .red), difference.right), (Span("+", .green), difference.this)].compactMap { mark, text in
                text.map { .text(["\($0)"], lead: ["    ", mark, " "], hanging: 6) }
              }
          } + (rest > 0 ? [.line("  and \(rest) more (--json has them)")] : []))
    }
  }

  private static func table(_ rows: [(String, String)]) -> Report {
    .table(rows.map { (Wrapping.padded($0.0, to: 9), $0.1) })
  }

  // MARK: JSON

  private var members: Report {
    let expectation = vector.expectation
    return .members([
      "id": vector.id, "asked_id": vector.askedID, "group": group, "description": vector.description,
      "reference": vector.reference, "cases": vector.cases,
      "flags": vector.flags.map {
        JSON.of(["name": $0.name, "bug_class": $0.bugClass.rawValue, "consequence": $0.bugClass.consequence])
      }, "features": vector.features, "protocol": vector.session.protocolName,
      "validation_time": vector.validationTime.description, "expected": Verdict(expectation),
      "got": judgement.map(Verdict.init), "as_expected": judgement.map { expectation.problem(with: $0) == nil },
      "checks": checks.map { JSON.of(["of": $0, "checks": $1]) }, "compared_with": comparison?.id,
      "differences": (comparison?.parts ?? []).flatMap { part in
        part.differences.map { JSON.of(["in": part.title, "path": $0.path, "right": $0.right, "this": $0.this]) }
      }, "layers": layers.map { JSON.of(["title": $0.title, "text": $0.text]) },
    ])
  }

  /// The expected or the actual verdict of a case.
  private struct Verdict: MemberValue {
    let isAccepted: Bool
    let stage: VectorStage?
    let codes: [String]
    let warnings: [String]

    init(_ expectation: VectorExpectation) {
      (isAccepted, stage, codes) = (expectation.isAccepted, expectation.stage, expectation.codes)
      warnings = expectation.warnings ?? []
    }

    init(_ judgement: Judgement) {
      (isAccepted, stage, codes) = (judgement.isAccepted, judgement.stage, judgement.codes ?? [])
      warnings = isAccepted ? judgement.warnings ?? [] : []
    }

    var text: String {
      if isAccepted {
        return warnings.isEmpty ? "accepted" : "accepted, warning of \(warnings.joined(separator: ", "))"
      }
      return "refused" + (stage.map { " at \($0.rawValue)" } ?? "") + " with \(codes.joined(separator: ", "))"
    }

    var json: JSON {
      .of([
        "verdict": isAccepted ? "accepted" : "rejected", "stage": stage?.rawValue, "codes": codes, "warnings": warnings,
      ])
    }
  }
}

/// A layer of a response as `mdoc inspect` shows it, cut off after 400 lines.
private enum LayerText {
  private static let lines = 400

  static func text(_ layer: ResponseLayer, showsValues: Bool) -> String {
    switch layer.content {
    case .json(let json): return cut(String(decoding: json.serialized(pretty: true), as: UTF8.self))
    case .bytes(let bytes): return "\(bytes.count) bytes, neither CBOR nor JSON: h'\(start(of: bytes))'"
    case .cbor(let bytes):
      do throws(CBORError) {
        let item = try CBORItem(parsing: bytes, limits: .inspection)
        return cut(CBORDiagnostic(showsValues: showsValues).describe(item))
      } catch {
        return "\(bytes.count) bytes that are not CBOR: \(error.code.rawValue) at byte \(error.offset): "
          + "\(error.code.entry.summary)\nh'\(start(of: bytes))'"
      }
    }
  }

  private static func start(of bytes: [UInt8]) -> String {
    Hex.encode(Array(bytes.prefix(64))) + (bytes.count > 64 ? "…" : "")
  }

  private static func cut(_ text: String) -> String {
    let all = text.split(separator: "\n", omittingEmptySubsequences: false)
    let rest = all.count > lines ? "\n… and \(all.count - lines) lines more" : ""
    return all.prefix(lines).map { String($0).printableLine }.joined(separator: "\n") + rest
  }
}
