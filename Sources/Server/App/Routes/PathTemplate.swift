/// A path with variable segments: `/v1/verification_sessions/{id}`.
///
/// Requests are compared as received, segment by segment and byte by byte. Nothing is decoded or normalised, so that a
/// proxy's rule about a path and ours cannot mean different resources: `%2e`, `//`, `/./` and a trailing slash match no
/// route.
package struct PathTemplate: Sendable, Hashable {
  let text: String
  private let segments: [Segment]

  private enum Segment: Sendable, Hashable {
    case literal(Substring)
    case variable(String)
  }

  package init(_ text: String) {
    self.text = text
    segments = Self.segments(of: text).map { segment in
      segment.first == "{" && segment.last == "}"
        ? .variable(String(segment.dropFirst().dropLast())) : .literal(segment)
    }
  }

  var variables: [String] {
    segments.compactMap { if case .variable(let name) = $0 { name } else { nil } }
  }

  /// The variables' values, or nil where the path of these segments is another.
  func match(_ given: [Substring]) -> [String: String]? {
    guard given.count == segments.count else { return nil }
    var values: [String: String] = [:]
    for (segment, text) in zip(segments, given) {
      switch segment {
      case .literal(let expected): guard text == expected else { return nil }
      case .variable(let name):
        guard Self.isName(text) else { return nil }
        values[name] = String(text)
      }
    }
    return values
  }

  /// What is between a path's slashes; none where it does not begin with one.
  static func segments(of path: String) -> [Substring] {
    guard path.utf8.first == UInt8(ascii: "/") else { return [] }
    return path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .map { Substring($0) }
  }

  /// What an identifier of ours or the name of a relying party could be: letters, digits, `_`, `-` and `.`, at most 64;
  /// not `..`, which proxies resolve.
  private static func isName(_ text: Substring) -> Bool {
    (1...64).contains(text.utf8.count) && text.first != "."
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"), UInt8(ascii: "-"),
          UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}
