import Base

/// Runs of several verifiers over the same cases, side by side: the wrongly accepted cases of each bug class.
package struct VerifierMatrix: Sendable {
  package let runs: [RunReport]

  /// - Parameter runs: at least one run, all of the same suite.
  package init(_ runs: [RunReport]) { self.runs = runs }

  /// One verifier's results for the wrong responses of one class.
  package struct Cell: Sendable {
    /// The number of judged cases in the class, excluding cases that concern only profile rules.
    package var judged = 0
    /// The wrong responses that the verifier accepted.
    package var letThrough: [VectorResult] = []
    /// The cases that ended the verifier or got no reply.
    package var withoutVerdict: [VectorResult] = []

    var isGood: Bool { letThrough.isEmpty && withoutVerdict.isEmpty }
  }

  package func cell(_ run: RunReport, _ bugClass: BugClass) -> Cell {
    run.results.reduce(into: Cell()) { cell, result in
      guard result.isSecurityCase, result.bugClasses.contains(bugClass), result.skipReason == nil else { return }
      cell.judged += 1
      if result.isLetThrough { cell.letThrough.append(result) }
      if result.judgement == nil { cell.withoutVerdict.append(result) }
    }
  }

  /// The classes with a judged case.
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
      "judged": .integer(Int64(run.judged.count)),
      "skipped": .integer(Int64(run.count.skipped)), "cells": .object(cells),
      "right_judged": .integer(Int64(run.rightResponses.count)),
      "right_refused": ids(run.rightResponses.filter(\.isRefusedThoughRight)),
    ]
  }
}

extension RunReport {
  /// Name and version of the verifier.
  package var title: String { description?.title ?? (subject == "mdoc" ? Self.program : subject) }

  package var judged: [VectorResult] { results.filter { $0.skipReason == nil } }

  /// The judged cases that every verifier must accept.
  var rightResponses: [VectorResult] {
    judged.filter { $0.summary.importance == .must && $0.summary.expectation.isAccepted }
  }

  /// The reasons for skipped cases, each with the number of cases, the largest number first.
  var skipReasons: [(reason: String, count: Int)] {
    Dictionary(grouping: results.compactMap(\.skipReason)) { $0 }.map { ($0.key, $0.value.count) }
      .sorted { ($1.1, $0.0) < ($0.1, $1.0) }
  }
}
