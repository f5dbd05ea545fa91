import Base

/// Runs of several verifiers over the same cases, side by side: for each bug class, what each of them lets through.
package struct VerifierMatrix: Sendable {
  package let runs: [RunReport]

  /// - Parameter runs: of the same suite, at least one.
  package init(_ runs: [RunReport]) { self.runs = runs }

  /// What one verifier did with the wrong answers of one class.
  package struct Cell: Sendable {
    /// How many it was asked. Rules that only a profile makes are left out.
    package var judged = 0
    /// The cases that it accepted, which it should refuse.
    package var letThrough: [VectorResult] = []
    /// The cases of which it died, or that it did not answer.
    package var withoutVerdict: [VectorResult] = []
  }

  package func cell(_ run: RunReport, _ bugClass: BugClass) -> Cell {
    run.results.reduce(into: Cell()) { cell, result in
      guard result.isSecurityCase, result.bugClasses.contains(bugClass), result.skipReason == nil else { return }
      cell.judged += 1
      if result.isLetThrough { cell.letThrough.append(result) }
      if result.judgement == nil { cell.withoutVerdict.append(result) }
    }
  }

  /// The classes of which some verifier was asked a case.
  package var bugClasses: [BugClass] {
    BugClass.allCases.filter { bugClass in runs.contains { cell($0, bugClass).judged > 0 } }
  }

  package var json: JSON {
    [
      "date": runs.first.map { .string($0.date.description) } ?? .null, "program": .string(RunReport.program),
      "version": runs.first?.edition.map { .string($0) } ?? .null,
      "suite_sha256": runs.first?.digest.map { .string($0) } ?? .null,
      "bug_classes": .object(bugClasses.map { .init($0.rawValue, .string($0.consequence)) }),
      "verifiers": .array(runs.map(json)),
    ]
  }

  private func json(_ run: RunReport) -> JSON {
    func ids(_ results: [VectorResult]) -> JSON { .strings(results.map(\.summary.id)) }
    let cells = bugClasses.map { bugClass in
      let cell = cell(run, bugClass)
      return JSON.Member(
        bugClass.rawValue,
        [
          "judged": .integer(Int64(cell.judged)), "let_through": ids(cell.letThrough),
          "without_verdict": ids(cell.withoutVerdict),
        ])
    }
    return [
      "verifier": run.description?.json ?? ["name": .string(run.subject)],
      "judged": .integer(Int64(run.results.count { $0.skipReason == nil })),
      "skipped": .integer(Int64(run.count.skipped)), "cells": .object(cells),
      "right_judged": .integer(Int64(run.rightAnswers.count)),
      "right_refused": ids(run.rightAnswers.filter(\.isRefusedThoughRight)),
    ]
  }
}

extension RunReport {
  /// Name and version of the verifier.
  package var title: String { description?.title ?? (subject == "mdoc" ? Self.program : subject) }

  /// The right answers that every verifier must accept, without those that were skipped.
  var rightAnswers: [VectorResult] {
    results.filter { $0.summary.importance == .must && $0.summary.expectation.isAccepted && $0.skipReason == nil }
  }

  /// Why cases were skipped, with their number, most first.
  var skipReasons: [(reason: String, count: Int)] {
    Dictionary(grouping: results.compactMap(\.skipReason)) { $0 }.map { ($0.key, $0.value.count) }
      .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
  }
}
