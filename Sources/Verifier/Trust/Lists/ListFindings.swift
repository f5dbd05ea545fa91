import Base

/// What is found about a list's parts, each said once, and not more of one code than a person reads: a list may have
/// thousands of entries that are wrong in one way.
struct ListFindings {
  private var details: [(code: Code, text: String)] = []
  private var omitted: [Code: Int] = [:]
  private var seen: Set<String> = []

  mutating func note(_ code: Code, _ text: String) {
    guard seen.insert("\(code.rawValue) \(text)").inserted else { return }
    if details.count(where: { $0.code == code }) < Limits.reportedFaults {
      details.append((code, text))
    } else {
      omitted[code, default: 0] += 1
    }
  }

  /// Warnings, one a code, in the order in which each was first met.
  var checks: [Check] {
    var codes: [Code] = []
    for code in details.map(\.code) where !codes.contains(code) { codes.append(code) }
    return codes.compactMap { code in
      var texts = details.filter { $0.code == code }.map(\.text)
      if let count = omitted[code] { texts.append("and \(count) more") }
      return texts.isEmpty ? nil : Check(code, .warning, detail: texts.joined(separator: "; "))
    }
  }
}
