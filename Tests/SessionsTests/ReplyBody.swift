import Base

@testable import Sessions

extension Reply {
  /// Read back from the sent reply.
  var body: JSON { (try? JSON(parsing: bytes)) ?? .null }
}
