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
    guard let nearest = NearestName.of(word, among: verbs.map(\.name)) else {
      return "\(what) here; there are \(verbs.map(\.name).joined(separator: ", ")) (\(spelled(path)) --help explains)"
    }
    return "\(what); did you mean \(spelled(path)) \(nearest)?"
  }
}

/// Guesses which name was meant.
enum NearestName {
  /// The nearest of the names, or nil where none is near: one slip in three letters, and never more than four.
  static func of(_ word: String, among names: [String]) -> String? {
    let ranked = names.map { (name: $0, distance: distance(from: word, to: $0)) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    let isStart = word.utf8.count > 3 && best.name.hasPrefix(word)
    if let longer = names.first(where: { word.utf8.count > 3 && $0.hasPrefix(word) }), !isStart { return longer }
    return isStart || best.distance <= min(4, max(1, word.utf8.count / 3)) ? best.name : nil
  }

  /// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the other.
  static func distance(from left: String, to right: String) -> Int {
    let left = Array(left.utf8.prefix(64))
    let right = Array(right.utf8.prefix(64))
    var rows = [Array(0...right.count)]
    for (i, character) in left.enumerated() {
      var row = [i + 1]
      for (j, other) in right.enumerated() {
        var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (character == other ? 0 : 1))
        if i > 0, j > 0, character == right[j - 1], left[i - 1] == other { cost = min(cost, rows[i - 1][j - 1] + 1) }
        row.append(cost)
      }
      rows.append(row)
    }
    return rows[left.count][right.count]
  }
}
