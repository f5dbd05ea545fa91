import Base

/// The sender to whom the memory of a body is counted.
package enum BodyOwner: Hashable, Sendable {
  /// A relying party, with any of its API keys.
  case relyingParty(Flow)
  /// Any other sender, named by its address; nil if a proxy does not tell it.
  case address(ClientAddress?)

  package var hasKey: Bool { if case .relyingParty = self { true } else { false } }
}

/// Bounds the memory that bodies, and what is made of them, take at one time: in total, for each sender, and for all
/// senders without an API key together. The last bound keeps them from taking all memory from the backends.
///
/// A sender's share is reserved when the header arrives, by the declared length, so that a sender over its share is
/// refused before it sends the body. The total counts only bytes that have arrived, since declaring a length costs
/// nothing.
final class BodyBudget: Sendable {
  private struct State {
    var held = 0
    var heldWithoutKey = 0
    var reserved: [BodyOwner: Int] = [:]
  }

  private let state = Locked(State())
  private let limit: Int
  /// Bytes of the largest body. No share is smaller, so that one body of any sender always fits into its share.
  private let largestBody: Int
  private let gauges: TransportGauges

  init(limit: Int, largestBody: Int, gauges: TransportGauges) {
    self.limit = limit
    self.largestBody = largestBody
    self.gauges = gauges
  }

  /// Reserves a body's declared length.
  func hold(_ length: Int, for owner: BodyOwner) -> Result<BodyHold, BodyRefusal> {
    state.withLock { state in
      guard hasRoom(length, for: owner, in: state) else { return .failure(.memory) }
      guard reserve(length, for: owner, in: &state) else { return .failure(.share) }
      return .success(BodyHold(self, owner, reserved: length))
    }
  }

  /// Takes bytes that have arrived. Returns false and takes nothing if they are too many.
  fileprivate func take(_ bytes: Int, beyondReserved excess: Int, for owner: BodyOwner) -> Bool {
    state.withLock { state in
      guard hasRoom(bytes, for: owner, in: state), reserve(excess, for: owner, in: &state) else { return false }
      change(&state, by: bytes, owner)
      return true
    }
  }

  fileprivate func release(_ bytes: Int, reserved: Int, of owner: BodyOwner) {
    state.withLock { state in
      change(&state, by: -bytes, owner)
      let rest = (state.reserved[owner] ?? 0) - reserved
      state.reserved[owner] = rest > 0 ? rest : nil
    }
  }

  private func hasRoom(_ bytes: Int, for owner: BodyOwner, in state: State) -> Bool {
    state.held + bytes <= limit
      && (owner.hasKey || state.heldWithoutKey + bytes <= max(limit / 4 * 3, min(largestBody, limit)))
  }

  private func reserve(_ bytes: Int, for owner: BodyOwner, in state: inout State) -> Bool {
    // If a proxy does not tell its clients' addresses, all of them would count as one sender.
    if case .address(nil) = owner { return true }
    let reserved = (state.reserved[owner] ?? 0) + bytes
    guard bytes == 0 || reserved <= max(limit / (owner.hasKey ? 2 : 8), largestBody) else { return false }
    state.reserved[owner] = reserved > 0 ? reserved : nil
    return true
  }

  private func change(_ state: inout State, by bytes: Int, _ owner: BodyOwner) {
    state.held += bytes
    if !owner.hasKey { state.heldWithoutKey += bytes }
    gauges.bodyBytes.store(state.held, ordering: .relaxed)
  }
}

/// Why a body is not taken.
enum BodyRefusal: Error, Sendable {
  /// There is no more memory for bodies.
  case memory
  /// The sender holds as much memory as one sender may.
  case share
}

/// The memory that one request holds, from its header to its reply's last byte.
package final class BodyHold: Sendable {
  private struct State {
    var reserved: Int
    var taken = 0
    var isOver = false
  }

  private let budget: BodyBudget
  private let owner: BodyOwner
  private let state: Locked<State>

  fileprivate init(_ budget: BodyBudget, _ owner: BodyOwner, reserved: Int) {
    self.budget = budget
    self.owner = owner
    state = Locked(State(reserved: reserved))
  }

  deinit { release() }

  /// Takes memory for bytes of the body, or for what is made of it. Returns false and takes nothing if they are too
  /// many.
  package func take(_ bytes: Int) -> Bool {
    // A `Locked` body must take no other lock, so the sum is made first. It cannot change meanwhile: one thread at a
    // time reads a request, and the request is handled only after it was read.
    let (excess, isOver) = state.withLock { (max(0, $0.taken + bytes - $0.reserved), $0.isOver) }
    guard !isOver, budget.take(bytes, beyondReserved: excess, for: owner) else { return false }
    state.withLock { state in
      state.taken += bytes
      state.reserved += excess
    }
    return true
  }

  /// Gives back all memory. Further calls do nothing.
  package func release() {
    let (taken, reserved) = state.withLock { state in
      defer { state = State(reserved: 0, isOver: true) }
      return (state.taken, state.reserved)
    }
    guard taken > 0 || reserved > 0 else { return }
    budget.release(taken, reserved: reserved, of: owner)
  }
}
