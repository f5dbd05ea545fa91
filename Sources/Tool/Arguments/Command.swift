/// One level of the command line: a verb with its options, or a group of verbs. Parsing and `--help` are made from it.
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
  /// What it does, beginning with a verb, without a full stop.
  let summary: String
  /// Paragraphs below the options.
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

  /// The verbs of a group; none of a verb.
  var verbs: [Command] { if case .verbs(let verbs) = content { verbs } else { [] } }
}

/// An argument without a name.
struct Operand: Sendable {
  let placeholder: String
  let help: String
  /// Whether there may be several.
  var isRepeatable = false
  /// Whether there may be none.
  var isOptional = false
}
