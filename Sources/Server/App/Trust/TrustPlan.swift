import PKIX
import Trust

/// Where a live server's anchors come from, and how often they are loaded anew.
struct TrustPlan: Sendable {
  let loader: TrustLoader
  /// The files and folders among the sources.
  let files: [CRLAddresses: [String]]
  /// Whether anything is published by others, and therefore changes by itself.
  let hasLists: Bool
  let refreshSeconds: Int64

  var paths: [String] { files.values.flatMap { $0 }.sorted() }

  /// Why these may not be trusted in live mode; nil where they may. What only tests should trust stops the load, rather
  /// than being passed over: whoever put it there believes that it counts. What a list names is not the operator's
  /// doing; it is refused with each document.
  static func problem(with anchors: [TrustAnchor]) -> String? {
    for anchor in anchors where anchor.trustedUntil == nil {
      let name = "\(anchor.source) (\(anchor.certificate.subject.text))"
      if anchor.certificate.isMock { return "\(name) is a root of the mock issuer" }
      if PublishedTestRoots.contains(anchor.certificate) {
        return "\(name) is a published test root, whose documents prove nothing"
      }
    }
    return nil
  }
}
