import Mdoc

/// Reads a command line against the declared commands. The first fault ends it, with what to type instead where that
/// can be guessed.
struct ArgumentParser {
  enum Result: Sendable {
    /// Help on the last of these commands, which lie within one another.
    case help([Command])
    case run(Command.Action, ParsedArguments)
  }

  let root: Command

  func parse(_ words: [String]) throws(Failure) -> Result {
    var path = [root]
    var rest = words[...]
    var command = root
    var wantsHelp = false
    while case .verbs(let verbs) = command.content {
      guard let word = rest.popFirst() else {
        if wantsHelp { return .help(path) }
        let names = verbs.map(\.name).joined(separator: ", ")
        throw .usage("say what to do: \(spelled(path)) followed by one of \(names); --help explains")
      }
      if Self.helpWords.contains(word) {
        wantsHelp = true
        continue
      }
      guard let verb = verbs.first(where: { $0.name == word }) else {
        throw .usage(unknownVerb(word, verbs, path))
      }
      path.append(verb)
      command = verb
    }
    guard case .action(let options, let operand, let action) = command.content else { return .help(path) }
    let beforeEnd = rest.prefix { $0 != "--" }
    if wantsHelp || beforeEnd.contains(where: { $0 == "--help" || $0 == "-h" }) { return .help(path) }
    do throws(Failure) {
      return .run(action, try ParsedArguments(reading: rest, options: options, operand: operand))
    } catch {
      throw .usage("\(error.message) (\(spelled(path)) --help explains)")
    }
  }

  private static let helpWords = ["--help", "-h", "help"]

  private func spelled(_ path: [Command]) -> String { path.map(\.name).joined(separator: " ") }

  private func unknownVerb(_ word: String, _ verbs: [Command], _ path: [Command]) -> String {
    let what = word.hasPrefix("-") ? "there is no option \(word)" : "there is no verb \"\(word)\""
    guard let nearest = Spelling.nearest(to: word, among: verbs.map(\.name)) else {
      return "\(what) here; there are \(verbs.map(\.name).joined(separator: ", ")) (\(spelled(path)) --help explains)"
    }
    return "\(what); did you mean \(spelled(path)) \(nearest)?"
  }
}
