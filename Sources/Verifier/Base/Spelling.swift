/// Guesses the intended name, for error texts.
package enum Spelling {
  /// The nearest of the names; nil if none is near. A name is near if it begins with the word, or differs by few edits:
  /// one for every three letters, at most four.
  package static func nearest(to word: String, among names: [String]) -> String? {
    let ranked = names.map { (name: $0, distance: distance(from: word, to: $0)) }
    guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
    let isStart = word.utf8.count > 3 && best.name.hasPrefix(word)
    if let longer = names.first(where: { word.utf8.count > 3 && $0.hasPrefix(word) }), !isStart { return longer }
    return isStart || best.distance <= min(4, max(1, word.utf8.count / 3)) ? best.name : nil
  }

  /// Up to three near names, nearest first. Names that contain the word are near too.
  package static func near(_ word: String, among names: [String]) -> [String] {
    let ranked = names.map { name in
      let isPart = word.utf8.count > 3 && name.contains(word)
      return (name: name, distance: isPart ? 0 : distance(from: word, to: name))
    }
    // Equally near names keep their order.
    return ranked.enumerated().filter { $0.element.distance <= min(4, max(1, word.utf8.count / 3)) }
      .sorted { ($0.element.distance, $0.offset) < ($1.element.distance, $1.offset) }.prefix(3).map(\.element.name)
  }

  /// True if the names differ by one inserted, removed or replaced byte, or only in case. Takes linear time, since
  /// names can come from wallets.
  package static func isOneEdit(_ left: String, _ right: String) -> Bool {
    let left = Array(left.utf8)
    let right = Array(right.utf8)
    guard left != right, abs(left.count - right.count) <= 1 else { return false }
    if left.count == right.count, left.elementsEqual(right, by: { lowercased($0) == lowercased($1) }) { return true }
    let start = zip(left, right).prefix { $0 == $1 }.count
    let end = zip(left[start...].reversed(), right[start...].reversed()).prefix { $0 == $1 }.count
    return max(left.count, right.count) - start - end <= 1
  }

  /// The number of insertions, deletions, replacements and swaps of adjacent bytes between the first 64 bytes of two
  /// words.
  package static func distance(from left: String, to right: String) -> Int {
    let left = Array(left.utf8.prefix(64))
    let right = Array(right.utf8.prefix(64))
    var rows = [Array(0...right.count)]
    for (i, byte) in left.enumerated() {
      var row = [i + 1]
      for (j, other) in right.enumerated() {
        var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (byte == other ? 0 : 1))
        if i > 0, j > 0, byte == right[j - 1], left[i - 1] == other { cost = min(cost, rows[i - 1][j - 1] + 1) }
        row.append(cost)
      }
      rows.append(row)
    }
    return rows[left.count][right.count]
  }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }

  /// "; did you mean …?" with up to three near names; empty if none is near.
  package static func hint(for word: String, among names: [String]) -> String {
    let near = near(String(word.prefix(64)), among: names)
    return near.isEmpty ? "" : "; did you mean \(near.alternatives)?"
  }

  /// The fault of an unknown name. Suggests the near names, or all names if none is near.
  package static func unknown(_ word: String, among names: [String]) -> String {
    let hint = hint(for: word, among: names)
    return "is unknown" + (hint.isEmpty ? "; must be one of \(names.joined(separator: ", "))" : hint)
  }
}
