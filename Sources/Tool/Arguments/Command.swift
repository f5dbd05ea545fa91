import Base

/// One level of the command line: a verb with its options, or a group of verbs. The parser and `--help` read it.
struct Command: Sendable {
  typealias Action = @Sendable (ParsedArguments, Console) async throws(Failure) -> ExitStatus

  enum Content: Sendable {
    case verbs([Command])
    case action(options: [Option], operand: Operand?, Action)
  }

  struct Example: Sendable {
    let purpose: String
    let line: String

    init(_ purpose: String, _ line: String) {
      self.purpose = purpose
      self.line = line
    }
  }

  let name: String
  /// What the command does, beginning with a verb, without a full stop.
  let summary: String
  /// Paragraphs of the help below the options.
  let notes: [String]
  let examples: [Example]
  let content: Content

  /// A group.
  init(_ name: String, _ summary: String, verbs: [Command], notes: [String] = []) {
    self.name = name
    self.summary = summary
    self.notes = notes
    examples = []
    content = .verbs(verbs)
  }

  /// A verb.
  init(
    _ name: String, _ summary: String, options: [Option], operand: Operand? = nil, notes: [String] = [],
    examples: [Example], action: @escaping Action
  ) {
    self.name = name
    self.summary = summary
    self.notes = notes
    self.examples = examples
    content = .action(options: options, operand: operand, action)
  }

  /// The verbs of a group; empty for a verb.
  var verbs: [Command] { if case .verbs(let verbs) = content { verbs } else { [] } }

  /// The options of a verb; empty for a group.
  var options: [Option] { if case .action(let options, _, _) = content { options } else { [] } }

  var operand: Operand? { if case .action(_, let operand, _) = content { operand } else { nil } }

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
    guard case .verbs(let verbs) = content else { return [Leaf(path: [self], command: self)] }
    return verbs.flatMap(\.leaves).map { Leaf(path: [self] + $0.path, command: $0.command) }
  }
}

/// An argument without a name.
struct Operand: Sendable {
  let placeholder: String
  let help: String
  /// Whether it may be given several times.
  var isRepeatable = false
  /// Whether it may be left out.
  var isOptional = false
  /// The only values that are accepted; empty if any value is.
  var choices: [String] = []
}

/// A named argument: `--name`, `--name VALUE` or `--name=VALUE`.
struct Option: Sendable {
  enum Occurrence: Sendable { case optional, required, repeatable, requiredRepeatable }

  /// The name without the two hyphens.
  let name: String
  /// The placeholder for the value in the help; nil for a flag.
  let placeholder: String?
  let occurrence: Occurrence
  let help: String
  /// The default value, as it would be typed; nil if there is none.
  let fallback: String?
  /// The only values that are accepted; empty if any value is.
  let choices: [String]

  var isRepeatable: Bool { occurrence == .repeatable || occurrence == .requiredRepeatable }
  var isRequired: Bool { occurrence == .required || occurrence == .requiredRepeatable }

  /// An option with a value.
  init(
    _ name: String, _ placeholder: String, _ help: String, occurrence: Occurrence = .optional,
    fallback: String? = nil, choices: [String] = []
  ) {
    self.name = name
    self.placeholder = placeholder
    self.help = help
    self.occurrence = occurrence
    self.fallback = fallback
    self.choices = choices
  }

  /// A flag.
  init(flag name: String, _ help: String) {
    self.name = name
    self.help = help
    placeholder = nil
    occurrence = .optional
    fallback = nil
    choices = []
  }
}

/// Options that several verbs share. Each has the same meaning everywhere.
extension Option {
  static let help = Option(flag: "help", "show this help")
  static let json = Option(flag: "json", "print JSON instead of text")

  static let at = Option(
    "at", "TIME", "the time to judge by: 2026-11-20T10:00:00Z, a date, or Unix seconds (default: now)")

  static let trust = Option(
    "trust", "PATH",
    "trust anchors: a PEM or DER file, or a folder of them; an anchor's settings stand beside it as .json",
    occurrence: .requiredRepeatable)

  static let clockSkew = Option(
    "clock-skew", "SECONDS", "by how much clocks may differ", fallback: "\(Limits.clockSkew)")

  static let strict = Option(flag: "strict", "reject for what otherwise only warns")

  static let request = Option(
    "request", "JSON", "what was asked, as the HTTP API takes it: a JSON object, or a file that holds one")

  static let seed = Option(
    "seed", "HEX", "what all keys and random values derive from (default: the same for every mock)")

  static let out = Option("out", "FILE", "where to write", occurrence: .required)
}
