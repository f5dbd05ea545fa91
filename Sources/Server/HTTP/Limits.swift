import Base

/// The transport's own bound; the others are in its configuration.
extension Limits {
  /// Bytes of a body that are read and dropped so that whoever is refused reads why: a connection that is closed on a
  /// caller who still sends may lose the reply.
  static let droppedBodyBytes = 64 << 10
}
