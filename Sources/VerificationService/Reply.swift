import Primitives

/// What a use case answers, ready for the wire.
public struct Reply: Sendable {
  /// 200 or 201.
  public let status: Int
  public let body: JSON
  /// Whether it was kept under an Idempotency-Key and is given again.
  public let isReplay: Bool

  init(_ status: Int, _ body: JSON, isReplay: Bool = false) {
    self.status = status
    self.body = body
    self.isReplay = isReplay
  }
}
