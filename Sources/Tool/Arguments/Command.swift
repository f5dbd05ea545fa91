import Base

/// One level of the command line: a verb with its options, or a group of verbs. The parser and `--help` read it.
struct Command: Sendable {
  typealias Action = @Sendable (Arguments) async throws(Failure) -> ExitStatus

  struct Example: Sendable {
    let purpose: String
    let line: String

    init(_ purpose: String, _ line: String) {
      self.purpose = purpose
      self.line = line
    }
  }

  let name: String
  /// A sentence that begins with a verb, without a full stop.
  let summary: String
  /// The verbs of a group; empty for a verb.
  var verbs: [Command] = []
  /// The help's headings, each with its number of verbs; empty if the help has a single list.
  private(set) var sections: [(title: String, count: Int)] = []
  var options: [Option] = []
  var operand: Operand?
  /// Paragraphs of the help below the options.
  var notes: [String] = []
  var examples: [Example] = []
  /// The verb's action; nil for a group.
  var action: Action?

  /// Declares a group.
  init(_ name: String, _ summary: String, verbs: [Command], notes: [String] = []) {
    (self.name, self.summary, self.verbs, self.notes) = (name, summary, verbs, notes)
  }

  /// Declares a group whose verbs have headings in the help.
  init(_ name: String, _ summary: String, sections: KeyValuePairs<String, [Command]>, notes: [String] = []) {
    self.init(name, summary, verbs: sections.flatMap(\.value), notes: notes)
    self.sections = sections.map { ($0.key, $0.value.count) }
  }

  /// Declares a verb.
  init(
    _ name: String, _ summary: String, options: [Option], operand: Operand? = nil, notes: [String] = [],
    examples: [Example], action: @escaping Action
  ) {
    (self.name, self.summary, self.options, self.operand) = (name, summary, options, operand)
    (self.notes, self.examples, self.action) = (notes, examples, action)
  }

  /// Declares a verb without a verdict: it succeeds unless it throws.
  init(
    _ name: String, _ summary: String, options: [Option], operand: Operand? = nil, notes: [String] = [],
    examples: [Example], work: @escaping @Sendable (Arguments) async throws(Failure) -> Void
  ) {
    self.init(
      name, summary, options: options, operand: operand, notes: notes, examples: examples,
      action: { arguments throws(Failure) in
        try await work(arguments)
        return .done
      })
  }

  /// A verb that can be run, with the commands that lead to it.
  struct Leaf: Sendable {
    /// The commands from the program down to the verb.
    let path: [Command]
    let command: Command

    /// The path as it is typed, such as `mdoc verify apple`.
    var spelled: String { path.map(\.name).joined(separator: " ") }
  }

  /// Every verb at or below this command, in the order of the declarations.
  var leaves: [Leaf] {
    if action != nil { return [Leaf(path: [self], command: self)] }
    return verbs.flatMap(\.leaves).map { Leaf(path: [self] + $0.path, command: $0.command) }
  }
}

/// A positional argument.
struct Operand: Sendable {
  let placeholder: String
  let help: String
  var isRepeatable = false
  var isOptional = false
  /// The accepted values; empty to accept any value.
  var choices: [String] = []
}

/// A named argument: `--name`, `--name VALUE` or `--name=VALUE`.
struct Option: Sendable {
  enum Occurrence: Sendable { case optional, required, repeatable, requiredRepeatable }

  /// The name without the two hyphens.
  let name: String
  /// The placeholder for the value in the help; nil for a flag.
  let placeholder: String?
  let help: String
  let occurrence: Occurrence
  /// The default value, as typed on the command line; nil if there is no default.
  let fallback: String?
  /// The accepted values; empty to accept any value.
  let choices: [String]

  var isRepeatable: Bool { occurrence == .repeatable || occurrence == .requiredRepeatable }
  var isRequired: Bool { occurrence == .required || occurrence == .requiredRepeatable }

  init(
    _ name: String, _ placeholder: String?, _ help: String, occurrence: Occurrence = .optional,
    fallback: String? = nil, choices: [String] = []
  ) {
    (self.name, self.placeholder, self.help) = (name, placeholder, help)
    (self.occurrence, self.fallback, self.choices) = (occurrence, fallback, choices)
  }

  init(flag name: String, _ help: String) { self.init(name, nil, help) }

  /// Returns the same option with another occurrence.
  func being(_ occurrence: Occurrence) -> Option {
    Option(name, placeholder, help, occurrence: occurrence, fallback: fallback, choices: choices)
  }
}

/// Options that several verbs share. Each has the same meaning everywhere.
extension Option {
  static let help = Option(flag: "help", "show this help")
  static let json = Option(flag: "json", "print JSON instead of text")

  static let at = Option(
    "at", "TIME", "the time of the checks: 2026-11-20T10:00:00Z, a date, or Unix seconds (default: now)")

  static let trust = Option(
    "trust", "PATH",
    "trust anchors: a PEM or DER file, or a folder of such files; an anchor's settings are beside it as .json",
    occurrence: .requiredRepeatable)

  static let clockSkew = Option(
    "clock-skew", "SECONDS", "maximum difference between clocks", fallback: "\(Limits.clockSkew)")

  static let strict = Option(flag: "strict", "reject responses with warnings")

  static let request = Option(
    "request", "JSON",
    "the request in the HTTP API's form, or a DCQL query: a JSON object, or a file that contains one")

  static let seed = Option("seed", "HEX", "the seed of all keys and random values (default: the same for every mock)")

  static let out = Option("out", "FILE", "where to write", occurrence: .required)
}
