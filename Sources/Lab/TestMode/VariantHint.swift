import Mock

/// What to tell somebody who asked for a variant that does not exist.
enum VariantHint {
  static func text(for name: String) -> String {
    let near =
      (MockVariant.all.map(\.name) + MockPublishedList.chosen.map(\.name))
      .map { (name: $0, distance: distance(name, $0)) }
      .filter { $0.distance <= max(3, $0.name.utf8.count / 2) }.sorted { $0.distance < $1.distance }.prefix(3)
      .map { "`\($0.name)`" }
    let hint = near.isEmpty ? "" : "; did you mean \(near.joined(separator: ", "))?"
    return "is no variant that `mdoc mock variants` lists" + hint
  }

  /// Levenshtein's, over at most the first 64 bytes.
  private static func distance(_ left: String, _ right: String) -> Int {
    let left = Array(left.utf8.prefix(64))
    let right = Array(right.utf8.prefix(64))
    var row = Array(0...right.count)
    for (line, character) in left.enumerated() {
      var diagonal = row[0]
      row[0] = line + 1
      for column in right.indices {
        let replaced = diagonal + (character == right[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
      }
    }
    return row[right.count]
  }
}
