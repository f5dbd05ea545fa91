import COpenSSL
import Synchronization

/// OpenSSL contexts of one key and one operation, kept between uses: making a new one costs more than everything else
/// around an ECDSA verification or an ECDH.
///
/// A context is either in one slot or held by one caller, never both. A caller takes it out by an atomic exchange with
/// nil, and puts it back only into a slot that holds nil. No caller waits: if there is no context, the caller makes
/// one. It is Sendable because the slots are atomic, and a context has one owner at any time.
// Sendable by that: the slots are atomic, and a context has one owner at any time.
struct ContextPool: ~Copyable, @unchecked Sendable {
  private let first: Atomic<OpaquePointer?>
  private let second = Atomic<OpaquePointer?>(nil)
  private let third = Atomic<OpaquePointer?>(nil)
  private let fourth = Atomic<OpaquePointer?>(nil)

  /// - Parameter context: the first context to be taken; the pool takes it over.
  init(_ context: OpaquePointer? = nil) { first = Atomic(context) }

  deinit {
    EVP_PKEY_CTX_free(first.load(ordering: .acquiring))
    EVP_PKEY_CTX_free(second.load(ordering: .acquiring))
    EVP_PKEY_CTX_free(third.load(ordering: .acquiring))
    EVP_PKEY_CTX_free(fourth.load(ordering: .acquiring))
  }

  /// A context for the caller alone, or nil.
  borrowing func take() -> OpaquePointer? {
    Self.take(first) ?? Self.take(second) ?? Self.take(third) ?? Self.take(fourth)
  }

  /// Takes over a context that the caller has stopped using.
  borrowing func giveBack(_ context: OpaquePointer) {
    let isKept =
      Self.put(context, in: first) || Self.put(context, in: second) || Self.put(context, in: third)
      || Self.put(context, in: fourth)
    if !isKept { EVP_PKEY_CTX_free(context) }
  }

  private static func take(_ slot: borrowing Atomic<OpaquePointer?>) -> OpaquePointer? {
    // An empty slot is only read, which many threads can do at once.
    guard slot.load(ordering: .relaxed) != nil else { return nil }
    return slot.exchange(nil, ordering: .acquiring)
  }

  private static func put(_ context: OpaquePointer, in slot: borrowing Atomic<OpaquePointer?>) -> Bool {
    slot.compareExchange(expected: nil, desired: context, ordering: .releasing).exchanged
  }
}
