import Base

@testable import Sessions

extension Reply {
  /// Read back from what is sent.
  var body: JSON { (try? JSON(parsing: bytes)) ?? .null }
}
