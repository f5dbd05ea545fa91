/// The help for a command, made from its declaration.
struct HelpText {
  private let path: [Command]
  private let width: Int

  /// - Parameter path: the commands from the program down to the explained command.
  init(_ path: [Command], width: Int) {
    self.path = path
    self.width = width
  }

  var text: String {
    guard let command = path.last else { return "" }
    let spelled = path.map(\.name).joined(separator: " ")
    var sections = [Wrapping.wrap("\(spelled): \(command.summary)", width: width)]
    sections += command.action == nil ? groupSections(spelled, command) : verbSections(spelled, command.examples)
    sections += command.notes.map { Wrapping.wrap($0, width: width) }
    return sections.joined(separator: "\n\n")
  }

  private func groupSections(_ spelled: String, _ command: Command) -> [String] {
    let isGroupOfVerbs = command.verbs.contains { $0.verbs.isEmpty == false }
    var rest = command.verbs[...]
    let sections = command.sections.isEmpty ? [("Verbs", rest.count)] : command.sections
    let lists = sections.map { title, count in
      let rows = rest.prefix(count).flatMap { verb in
        verb.verbs.isEmpty ? [(verb.name, verb.summary)] : verb.verbs.map { ("\(verb.name) \($0.name)", $0.summary) }
      }
      rest = rest.dropFirst(count)
      return "\(title):\n" + Wrapping.columns(rows, width: width)
    }
    return ["Usage: \(spelled) \(isGroupOfVerbs ? "VERB … [OPTION]…" : "VERB [OPTION]…")"] + lists + [
      "\(spelled) VERB --help shows a verb's options and examples."
    ]
  }

  private func verbSections(_ spelled: String, _ examples: [Command.Example]) -> [String] {
    let lines = examples.map { "  # \($0.purpose)\n  \($0.line.replacing("\n", with: "\n  "))" }
    return [
      "Usage:\n" + Wrapping.wrap(words: usage, first: "  \(spelled) ", width: width),
      "Options:\n" + Wrapping.columns(rows.map { ($0.name, $0.meaning) }, width: width),
    ] + (lines.isEmpty ? [] : ["Examples:\n" + lines.joined(separator: "\n")])
  }

  /// The operand and the options of a verb. Brackets enclose optional arguments; dots follow repeatable arguments.
  var usage: [String] {
    guard let command = path.last else { return [] }
    return (command.operand.map { [usage($0)] } ?? []) + command.options.map(usage)
  }

  /// The operand and the options of a verb as they are typed, each with its meaning.
  var rows: [(name: String, meaning: String)] {
    guard let command = path.last else { return [] }
    return (command.operand.map { [($0.placeholder, description(of: $0))] } ?? [])
      + (command.options + [.help]).map { (spelled($0), description(of: $0)) }
  }

  private func usage(_ operand: Operand) -> String {
    let spelled = operand.isOptional ? "[\(operand.placeholder)]" : operand.placeholder
    // A placeholder of several words has one word for each operand.
    return spelled + (operand.isRepeatable && !operand.placeholder.contains(" ") ? "…" : "")
  }

  private func spelled(_ option: Option) -> String { "--\(option.name)" + (option.placeholder.map { " " + $0 } ?? "") }

  private func usage(_ option: Option) -> String {
    let spelled = spelled(option)
    return (option.isRequired ? spelled : "[\(spelled)]") + (option.isRepeatable ? "…" : "")
  }

  private func description(of operand: Operand) -> String {
    ([operand.help] + (operand.choices.isEmpty ? [] : [operand.choices.joined(separator: ", ")])).joined(
      separator: ": ")
  }

  private func description(of option: Option) -> String {
    description(of: Operand(placeholder: "", help: option.help, choices: option.choices))
      + (option.isRepeatable ? "; repeatable" : "") + (option.fallback.map { " (default: \($0))" } ?? "")
  }
}
