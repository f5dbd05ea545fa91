import Base

/// The figures of one run of `mdoc bench`, as text and as JSON.
package struct BenchReport {
  let cases: [(name: String, figures: AppleBenchmark.Figures)]

  /// Verifications in one measurement. They are enough for the clock's precision, and few enough that floor and
  /// verification meet the same load on the machine.
  private static let perRound = 200

  package init(rounds: Int) async throws {
    var cases: [(String, AppleBenchmark.Figures)] = []
    for benchmark in AppleBenchmark.all {
      cases.append((benchmark.name, try await benchmark.run(rounds: rounds, perRound: Self.perRound)))
    }
    self.cases = cases
  }

  // MARK: Text

  package var text: String { cases.map { text($0.name, $0.figures) }.joined(separator: "\n\n") }

  private func text(_ name: String, _ figures: AppleBenchmark.Figures) -> String {
    var lines = ["\(name) (\(figures.answerBytes) bytes)"]
    lines.append(row("", ["µs", "floor", "ratio"]))
    for (label, comparison) in [("known signer", figures.known), ("unknown signer", figures.unknown)] {
      lines.append(
        row(
          label,
          [decimal(comparison.verification, 1), decimal(comparison.floor, 1), decimal(comparison.ratio, 3)]))
    }
    lines.append(row("cached revocation adds", [decimal(max(0, figures.keptRevocation), 1)]))
    for (threads, rate) in figures.perSecond {
      lines.append(row("a second, \(threads) thread\(threads == 1 ? "" : "s")", [decimal(rate, 0)]))
    }
    lines.append("  of which, each by itself:")
    for stage in figures.stages { lines.append(row("  " + stage.name, [decimal(stage.microseconds, 1)])) }
    return lines.joined(separator: "\n")
  }

  private func row(_ label: String, _ columns: [String]) -> String {
    let padding = String(repeating: " ", count: max(1, 26 - label.count))
    return "  " + label + padding
      + columns.map { String(repeating: " ", count: max(0, 9 - $0.count)) + $0 }.joined()
  }

  // MARK: JSON

  package var json: JSON {
    [
      "cases": .array(
        cases.map { name, figures in
          [
            "name": .string(name), "answer_bytes": .integer(Int64(figures.answerBytes)),
            "known_signer": json(figures.known), "unknown_signer": json(figures.unknown),
            "cached_revocation_nanoseconds": .integer(Int64(figures.keptRevocation * 1_000)),
            "verifications_per_second": .array(
              figures.perSecond.map {
                ["threads": .integer(Int64($0.threads)), "rate": .integer(Int64($0.rate))]
              }),
            "stages": .array(
              figures.stages.map {
                ["name": .string($0.name), "nanoseconds": .integer(Int64($0.microseconds * 1_000))]
              }),
          ]
        })
    ]
  }

  private func json(_ comparison: AppleBenchmark.Comparison) -> JSON {
    [
      "nanoseconds": .integer(Int64(comparison.verification * 1_000)),
      "floor_nanoseconds": .integer(Int64(comparison.floor * 1_000)),
      "ratio_to_floor": .double((comparison.ratio * 1_000).rounded() / 1_000),
    ]
  }
}

/// Formats a number that is not negative with a fixed number of decimals.
func decimal(_ value: Double, _ places: Int) -> String {
  var scale = 1
  for _ in 0..<places { scale *= 10 }
  let scaled = Int((value * Double(scale)).rounded())
  guard places > 0 else { return "\(scaled)" }
  let fraction = "\(scaled % scale)"
  return "\(scaled / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
}
