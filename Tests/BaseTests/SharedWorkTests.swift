import Testing

@testable import Base

struct SharedWorkTests {
  @Test(arguments: [0, 1, 2, 5, 50], [-1, 0, 1, 2, 8, 100])
  func `each piece is done once, whatever the number of threads`(pieces: Int, threads: Int) {
    let done = Locked([Int]())
    let results = SharedWork.run(pieces: pieces, threads: threads, scratch: { 0 }) { number, before in
      done.withLock { $0.append(number) }
      defer { before += 1 }
      return [number * number, before]
    }
    #expect(results.map(\.[0]) == (0..<pieces).map { $0 * $0 })
    #expect(done.withLock { $0 }.sorted() == Array(0..<pieces))
    // The number of pieces that one thread keeps.
    #expect(results.filter { $0[1] == 0 }.count <= max(1, min(threads, pieces)))
  }

  @Test func `what the pieces share is let go of when the work is done`() {
    final class Shared: Sendable {}
    for _ in 0..<200 {
      weak var left: Shared?
      do {
        let shared = Shared()
        left = shared
        _ = SharedWork.run(pieces: 4, threads: 2, scratch: {}) { [shared] _, _ in withExtendedLifetime(shared) {} }
      }
      #expect(left == nil)
    }
  }
}
