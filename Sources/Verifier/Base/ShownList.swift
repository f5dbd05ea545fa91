/// Names that somebody else chose, fit for a report: each cut as by `shown`, and no more than a person reads.
package func shownList(_ names: [String]) -> String {
  let more = names.count > 8 ? " and \(names.count - 8) more" : ""
  return names.isEmpty ? "none" : names.prefix(8).map { shown($0) }.joined(separator: ", ") + more
}
