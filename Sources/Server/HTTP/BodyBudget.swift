import Base

/// Whose body it is, as far as the memory for bodies is shared out.
package enum BodyOwner: Hashable, Sendable {
  /// Somebody with an API key, by its SHA-256.
  case key([UInt8])
  /// Anybody else; nil where a proxy does not say who.
  case address(ClientAddress?)

  package var hasKey: Bool { if case .key = self { true } else { false } }
}

/// The bytes of bodies that are held at one time, and of what was made of them: in all, for each who sends them, and for
/// all without an API key, who must never take the last of it from the backends.
///
/// A share is reserved with the header, by the length that it declares, so that who is over it is told so before he
/// sends; of the whole only what has come is counted, since a length costs nothing to declare.
final class BodyBudget: Sendable {
  private struct State {
    var held = 0
    var heldWithoutKey = 0
    var reserved: [BodyOwner: Int] = [:]
  }

  private let state = Locked(State())
  private let limit: Int
  /// One body can always be had, however little there is.
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

  /// Takes bytes that have come; false where they are too much. Nothing is then taken.
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
    // Behind a proxy that does not say who they are, all would be one.
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
  /// Who sends it has as much of it as he may.
  case share
}

/// What one request holds, from its header to its reply's last byte.
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

  /// Takes bytes of the body, or for what is made of it; false where they are too much.
  package func take(_ bytes: Int) -> Bool {
    // `Locked` bodies take no other lock: the sum is made first. A request is read by one thread at a time, and handled
    // only when it was read.
    let (excess, isOver) = state.withLock { (max(0, $0.taken + bytes - $0.reserved), $0.isOver) }
    guard !isOver, budget.take(bytes, beyondReserved: excess, for: owner) else { return false }
    state.withLock { state in
      state.taken += bytes
      state.reserved += excess
    }
    return true
  }

  /// Gives back all of it, once.
  package func release() {
    let (taken, reserved) = state.withLock { state in
      defer { state = State(reserved: 0, isOver: true) }
      return (state.taken, state.reserved)
    }
    guard taken > 0 || reserved > 0 else { return }
    budget.release(taken, reserved: reserved, of: owner)
  }
}
