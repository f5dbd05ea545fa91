import Base

/// The tables of keys that sign again and again, which are document signers that are trusted: nobody else is counted, and
/// only for signatures that were good.
///
/// They are kept by point, however many certificates and documents come with the same key.
final class VerificationTables: Sendable {
  static let shared = VerificationTables(places: 32)
  /// A table pays for itself after about a thousand verifications. Who came this far will come that far.
  static let enough = 128
  /// Who has not signed for so many seconds gives its place to another.
  static let idle: Int64 = 3_600
  /// Keys that are counted.
  private static let capacity = 1_024

  private struct Use {
    var count = 0
    var last: Int64 = 0
    var table: VerificationTable?
    var isMaking = false

    var takesPlace: Bool { table != nil || isMaking }
  }

  private let uses = Locked<[[UInt8]: Use]>([:])
  private let places: Int
  private let clock: @Sendable () -> Int64

  /// - Parameter clock: seconds since any moment.
  init(places: Int, clock: @escaping @Sendable () -> Int64 = { (ContinuousClock.now - start).components.seconds }) {
    self.places = places
    self.clock = clock
  }

  private static let start = ContinuousClock.now

  func table(of key: PublicKey) -> VerificationTable? {
    let now = clock()
    return uses.withLock { uses in
      uses[key.encoded]?.last = now
      return uses[key.encoded]?.table
    }
  }

  /// Counts a good signature. The one that is enough has a table made, on a thread of its own, where there is a place.
  func count(_ key: PublicKey) {
    let now = clock()
    guard note(key, at: now) else { return }
    let isStarted = BackgroundThread.start("mdoc-table") { self.finish(key, with: VerificationTable(key)) }
    if !isStarted { finish(key, with: nil) }
  }

  /// Whether a table is to be made, for which a place was taken.
  private func note(_ key: PublicKey, at now: Int64) -> Bool {
    uses.withLock { uses in
      if uses.count >= Self.capacity, uses[key.encoded] == nil { uses = uses.filter { $0.value.takesPlace } }
      var use = uses[key.encoded] ?? Use()
      use.count += 1
      use.last = now
      // Places are looked through under the lock: not for each signature of a key that gets none.
      let isDue =
        use.count.isMultiple(of: Self.enough) && !use.takesPlace && VerificationTable.pays(for: key)
        && Self.freePlace(in: &uses, of: places, at: now)
      if isDue { use.isMaking = true }
      uses[key.encoded] = use
      return isDue
    }
  }

  private static func freePlace(in uses: inout [[UInt8]: Use], of places: Int, at now: Int64) -> Bool {
    let taken = uses.filter { $0.value.takesPlace }
    if taken.count < places { return true }
    guard let oldest = taken.filter({ !$0.value.isMaking }).min(by: { $0.value.last < $1.value.last }),
      now - oldest.value.last >= idle
    else { return false }
    uses[oldest.key] = nil
    return true
  }

  private func finish(_ key: PublicKey, with table: VerificationTable?) {
    uses.withLock { uses in
      uses[key.encoded, default: Use()].isMaking = false
      uses[key.encoded]?.table = table
      // Memory was short: not again at once.
      if table == nil { uses[key.encoded]?.count = 0 }
    }
  }
}

extension PublicKey {
  /// Says that the key signs again and again, and that others trust it: verifying with it may become cheaper.
  package func expectReuse() { isReused.store(true, ordering: .relaxed) }
}
