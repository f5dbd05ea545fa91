/// Writes Prometheus' text exposition format, 0.0.4.
struct MetricsWriter {
  private(set) var lines: [String] = []

  enum Kind: String { case gauge, counter, histogram }

  /// Begins a family: all of its samples follow.
  mutating func family(_ name: String, _ kind: Kind, _ help: String) {
    lines += ["# HELP \(name) \(Self.escaped(help, quotes: false))", "# TYPE \(name) \(kind.rawValue)"]
  }

  mutating func sample(_ name: String, _ value: Double) { sample(name, [], value) }

  mutating func sample(_ name: String, _ labels: [(String, String)], _ value: Double) {
    let list = labels.map { "\($0.0)=\"\(Self.escaped($0.1, quotes: true))\"" }.joined(separator: ",")
    lines.append("\(name)\(list.isEmpty ? "" : "{\(list)}") \(Self.number(value))")
  }

  /// A family of one sample.
  mutating func single(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
    family(name, kind, help)
    sample(name, value)
  }

  /// The samples of one histogram: buckets count all that is not above their bound.
  mutating func histogram(_ name: String, _ labels: [(String, String)], _ histogram: Histogram) {
    var sum = 0
    for (bound, count) in zip(Histogram.bounds, histogram.counts) {
      sum += count
      sample(name + "_bucket", labels + [("le", Self.number(bound))], Double(sum))
    }
    sample(name + "_bucket", labels + [("le", "+Inf")], Double(histogram.count))
    sample(name + "_sum", labels, histogram.sum)
    sample(name + "_count", labels, Double(histogram.count))
  }

  private static func number(_ value: Double) -> String {
    value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    text.unicodeScalars.reduce(into: "") { escaped, scalar in
      switch scalar {
      case "\\": escaped += "\\\\"
      case "\n": escaped += "\\n"
      case "\"" where quotes: escaped += "\\\""
      default: escaped.unicodeScalars.append(scalar)
      }
    }
  }
}
