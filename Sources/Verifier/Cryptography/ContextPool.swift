import COpenSSL
import Synchronization

/// Reusable OpenSSL contexts for one key and one operation. Making a context is expensive.
///
/// A context is either in one slot or held by one caller, never both. An atomic exchange with nil takes a context out.
/// A caller puts a context back only into a slot that contains nil. No caller waits: if no context is free, the caller
/// makes one.
// Sendable: the slots are atomic, and a context has one owner at any time.
struct ContextPool: ~Copyable, @unchecked Sendable {
  private let slots: InlineArray<4, Atomic<OpaquePointer?>>

  /// - Parameter context: a first context, which the pool then owns.
  init(_ context: OpaquePointer? = nil) { slots = InlineArray { Atomic($0 == 0 ? context : nil) } }

  deinit { for index in slots.indices { EVP_PKEY_CTX_free(slots[index].load(ordering: .acquiring)) } }

  /// Takes a context, which the caller then owns; nil if none is free.
  borrowing func take() -> OpaquePointer? {
    // An empty slot is only read, since threads can read a slot concurrently.
    for index in slots.indices where slots[index].load(ordering: .relaxed) != nil {
      if let context = slots[index].exchange(nil, ordering: .acquiring) { return context }
    }
    return nil
  }

  /// Takes ownership of a context.
  borrowing func giveBack(_ context: OpaquePointer) {
    let isKept = slots.indices.contains { index in
      slots[index].compareExchange(expected: nil, desired: context, ordering: .releasing).exchanged
    }
    if !isKept { EVP_PKEY_CTX_free(context) }
  }
}
