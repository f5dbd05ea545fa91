import Primitives

@testable import VerificationService

extension Reply {
  /// Read back from what is sent.
  var body: JSON { (try? text.parsed()) ?? .null }
}
