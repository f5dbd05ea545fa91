/// A request's place among those that are handled at one time.
///
/// Whoever waits for somebody outside, and uses nothing of this machine meanwhile, lends the place to another: a
/// publisher that hangs must not hold up requests that have nothing to do with it.
package final class HandlingPlace: Sendable {
  @TaskLocal static var current: HandlingPlace?

  private let leave: @Sendable () -> Void
  private let comeBack: @Sendable () -> Void

  package init(leave: @escaping @Sendable () -> Void, comeBack: @escaping @Sendable () -> Void) {
    self.leave = leave
    self.comeBack = comeBack
  }

  /// Runs the body with this request's place, if it has one, lent to another.
  package static func lend<R: Sendable>(while body: () async -> R) async -> R {
    guard let place = current else { return await body() }
    place.leave()
    let result = await body()
    place.comeBack()
    return result
  }
}
