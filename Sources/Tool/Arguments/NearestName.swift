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
