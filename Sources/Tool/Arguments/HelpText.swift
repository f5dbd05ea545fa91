/// The help on a command, made from its declaration.
struct HelpText {
  private let path: [Command]
  private let width: Int

  /// - Parameter path: the commands from the program down to the one in question.
  init(_ path: [Command], width: Int) {
    self.path = path
    self.width = width
  }

  var text: String {
    guard let command = path.last else { return "" }
    let spelled = path.map(\.name).joined(separator: " ")
    var sections = [Wrapping.wrap("\(spelled): \(command.summary)", width: width)]
    switch command.content {
    case .verbs(let verbs): sections += groupSections(spelled, verbs)
    case .action(let options, let operand, _): sections += verbSections(spelled, options, operand, command.examples)
    }
    sections += command.notes.map { Wrapping.wrap($0, width: width) }
    return sections.joined(separator: "\n\n")
  }

  private func groupSections(_ spelled: String, _ verbs: [Command]) -> [String] {
    let isGroupOfVerbs = verbs.contains { $0.verbs.isEmpty == false }
    let rows = verbs.flatMap { verb in
      verb.verbs.isEmpty ? [(verb.name, verb.summary)] : verb.verbs.map { ("\(verb.name) \($0.name)", $0.summary) }
    }
    return [
      "Usage: \(spelled) \(isGroupOfVerbs ? "VERB … [OPTION]…" : "VERB [OPTION]…")",
      "Verbs:\n" + Wrapping.columns(rows, width: width),
      "\(spelled) VERB --help shows a verb's options, with examples.",
    ]
  }

  private func verbSections(
    _ spelled: String, _ options: [Option], _ operand: Operand?, _ examples: [Command.Example]
  ) -> [String] {
    let usage = (operand.map { [self.usage($0)] } ?? []) + options.map(usage)
    let rows =
      (operand.map { [($0.placeholder, $0.help)] } ?? [])
      + (options + [.help]).map { ("--\($0.name)" + ($0.placeholder.map { " " + $0 } ?? ""), description(of: $0)) }
    let lines = examples.map { "  # \($0.purpose)\n  \($0.line.replacing("\n", with: "\n  "))" }
    return [
      "Usage:\n" + Wrapping.wrap(words: usage, first: "  \(spelled) ", width: width),
      "Options:\n" + Wrapping.columns(rows, width: width),
    ] + (lines.isEmpty ? [] : ["Examples:\n" + lines.joined(separator: "\n")])
  }

  private func usage(_ operand: Operand) -> String {
    let spelled = operand.isOptional ? "[\(operand.placeholder)]" : operand.placeholder
    return spelled + (operand.isRepeatable ? "…" : "")
  }

  /// An option in the usage line: brackets where it may be absent, dots where it may repeat.
  private func usage(_ option: Option) -> String {
    let spelled = "--\(option.name)" + (option.placeholder.map { " " + $0 } ?? "")
    return (option.isRequired ? spelled : "[\(spelled)]") + (option.isRepeatable ? "…" : "")
  }

  private func description(of option: Option) -> String {
    var text = option.help
    if !option.choices.isEmpty { text += ": " + option.choices.joined(separator: ", ") }
    if option.isRepeatable { text += "; repeatable" }
    if let fallback = option.fallback { text += " (default: \(fallback))" }
    return text
  }
}
