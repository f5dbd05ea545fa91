import Base
import CP11Kit
import Cryptography

/// A PKCS #11 module in this process, with its sessions. Each path has only one, since a process initialises a module
/// only once.
///
/// After a token is reset or removed, its sessions, logins and handles are void. Only a new initialisation helps. Every
/// such error therefore ends the module's current life, and the next call begins another.
public final class TokenModule: Sendable {
  private static let loaded = Locked<[String: TokenModule]>([:])

  let path: String
  let threads = TokenThreads()
  // The pointer is set once. The module locks its own state (CKF_OS_LOCKING_OK). The module stays loaded.
  nonisolated(unsafe) private let functions: UnsafeMutablePointer<CK_FUNCTION_LIST>
  private let access = SharedAccess()
  private let state = Locked(State())

  private struct State {
    var isInitialized = false
    /// Counts the module's lives. Sessions and handles are valid for one life.
    var life = 0
    var idle: [CK_SLOT_ID: [CK_SESSION_HANDLE]] = [:]
    /// PINs that tokens have refused. They are not tried again, since a token locks itself after a few attempts.
    var refused: [(token: [UInt8], pin: SharedSecret)] = []
    /// The earliest time of the next initialisation, after a failed attempt. `absences` has the same for absent tokens,
    /// by name.
    var pause: Int64 = 0
    var absences: [String: Int64] = [:]
  }

  /// The module at this path, loaded on first use.
  public static func at(_ path: String) throws(TokenError) -> TokenModule {
    if let module = loaded.withLock({ $0[path] }) { return module }
    let module = try TokenModule(path)
    return loaded.withLock { loaded in
      let first = loaded[path] ?? module
      loaded[path] = first
      return first
    }
  }

  private init(_ path: String) throws(TokenError) {
    let flags = Int32(P11_KIT_MODULE_UNMANAGED | P11_KIT_MODULE_CRITICAL)
    guard let functions = p11_kit_module_load(path, flags) else {
      let reason = p11_kit_message().map { String(cString: $0) } ?? "it has no C_GetFunctionList"
      throw .refused("the module \(path) cannot be loaded: \(reason)")
    }
    self.path = path
    self.functions = functions
  }

  /// A call's result other than CKR_OK.
  struct Failure: Error {
    let status: CK_RV

    /// True if only a new life of the module can help.
    var isLoss: Bool {
      [
        CKR_DEVICE_ERROR, CKR_DEVICE_REMOVED, CKR_TOKEN_NOT_PRESENT, CKR_TOKEN_NOT_RECOGNIZED,
        CKR_SESSION_HANDLE_INVALID, CKR_SESSION_CLOSED, CKR_USER_NOT_LOGGED_IN, CKR_KEY_HANDLE_INVALID,
        CKR_OBJECT_HANDLE_INVALID, CKR_CRYPTOKI_NOT_INITIALIZED,
      ].contains(status)
    }

    /// `CKR_PIN_INCORRECT (0xa0)`, or the number alone.
    var text: String {
      let number = "0x" + String(status, radix: 16)
      // The names come from libp11-kit.
      guard let name = p11_kit_strerror(status) else { return number }
      return "\(String(cString: name)) (\(number))"
    }
  }

  /// Calls a function of the module.
  func call(_ body: (CK_FUNCTION_LIST) -> CK_RV?) throws(Failure) {
    let status = body(functions.pointee) ?? CKR_FUNCTION_NOT_SUPPORTED
    guard status == CKR_OK else { throw Failure(status: status) }
  }

  // MARK: Lives

  /// A location in the current life: a slot with its logged-in token.
  struct Place: Sendable {
    let life: Int
    let slot: CK_SLOT_ID
    let token: CK_TOKEN_INFO
  }

  /// Finds a token, logs in, and runs the body in a session with it. No other code uses the module meanwhile.
  func enter<R>(
    _ uri: TokenURI, pin: SharedSecret?, mayWrite: Bool = false,
    _ body: (Place, CK_SESSION_HANDLE) throws(TokenError) -> R
  ) throws(TokenError) -> R {
    let isPaused = state.withLock { max($0.pause, $0.absences[uri.path] ?? 0) > Deadline.now() }
    guard !isPaused, access.takeAlone() else { throw .away("\(uri.path): the module \(path) does not respond") }
    defer { access.giveBack() }
    do throws(TokenError) {
      try reporting(uri) { () throws(Failure) in
        try begin()
        // A module that cannot list its slots is useless for all keys.
        guard (try? slots()) == nil else { return }
        end(state.withLock { $0.life })
        try begin()
      }
      let place = try place(of: uri)
      let session = try reporting(uri) { () throws(Failure) in try open(place.slot, mayWrite) }
      // Closing a token's last session logs out, so one session stays open.
      defer { keep(session, mayWrite ? nil : place) }
      try logIn(place, session, pin, uri)
      return try body(place, session)
    } catch {
      if error.isTemporary { pause(uri, isAbsent: error.isAbsent) }
      throw error
    }
  }

  /// Some modules see a new token only after a new initialisation. But an absent token must not end the sessions of
  /// other tokens.
  private func pause(_ uri: TokenURI, isAbsent: Bool) {
    let (life, isInUse) = state.withLock { ($0.life, $0.idle.contains { !$0.value.isEmpty }) }
    if !isAbsent || !isInUse { end(life) }
    let end = Deadline(in: Limits.tokenPause).nanoseconds
    state.withLock { if isAbsent { $0.absences[uri.path] = end } else { $0.pause = end } }
  }

  /// Runs work of a start or reload on one of the module's threads, so that a module that hangs cannot block either.
  /// The wait is bounded.
  func onItsThread<Value: Sendable>(
    _ uri: TokenURI, _ work: @escaping @Sendable () throws(TokenError) -> Value
  ) throws(TokenError) -> Value {
    let result = Locked<Result<Value, TokenError>?>(nil)
    let hasEnded = threads.wait {
      let value = Result { () throws(TokenError) in try work() }
      result.withLock { $0 = value }
    }
    guard hasEnded, let value = result.withLock({ $0 }) else {
      // After one failure, the configuration's other keys need not wait as long.
      state.withLock { $0.pause = Deadline(in: Limits.tokenPause).nanoseconds }
      throw .away("\(uri.path): the module \(path) does not respond")
    }
    return try value.get()
  }

  /// Describes a call's failure as text.
  func reporting<R>(_ uri: TokenURI, _ body: () throws(Failure) -> R) throws(TokenError) -> R {
    do { return try body() } catch { throw .away("\(uri.path): the module \(path): \(error.text)") }
  }

  private func begin() throws(Failure) {
    guard !state.withLock({ $0.isInitialized }) else { return }
    var arguments = CK_C_INITIALIZE_ARGS()
    arguments.flags = CKF_OS_LOCKING_OK
    do { try call { $0.C_Initialize?(&arguments) } } catch {
      guard error.status == CKR_CRYPTOKI_ALREADY_INITIALIZED else { throw error }
    }
    state.withLock { $0.isInitialized = true }
  }

  /// Ends this life, if it is still the current one. The caller must have exclusive use of the module.
  private func end(_ life: Int) {
    let isCurrent = state.withLock { state in
      guard state.life == life else { return false }
      state.life += 1
      state.idle = [:]
      defer { state.isInitialized = false }
      return state.isInitialized
    }
    if isCurrent { try? call { $0.C_Finalize?(nil) } }
  }

  private func place(of uri: TokenURI) throws(TokenError) -> Place {
    var found: [Place] = []
    for slot in try reporting(uri, { () throws(Failure) in try slots() }) {
      var token = CK_TOKEN_INFO()
      guard (try? call { $0.C_GetTokenInfo?(slot, &token) }) != nil, uri.isOf(slot, &token) else { continue }
      found.append(Place(life: state.withLock { $0.life }, slot: slot, token: token))
    }
    guard let first = found.first else { throw .absent("\(uri.path): the module \(path) has no such token") }
    guard found.count == 1 else { throw .refused("\(uri.path) names \(found.count) tokens; add token= or serial=") }
    return first
  }

  private func slots() throws(Failure) -> [CK_SLOT_ID] {
    var count: CK_ULONG = 0
    try call { $0.C_GetSlotList?(1, nil, &count) }
    var slots = [CK_SLOT_ID](repeating: 0, count: Int(count))
    try call { $0.C_GetSlotList?(1, &slots, &count) }
    return Array(slots.prefix(Int(count)))
  }

  private func open(_ slot: CK_SLOT_ID, _ mayWrite: Bool) throws(Failure) -> CK_SESSION_HANDLE {
    var session: CK_SESSION_HANDLE = 0
    // Some modules, such as that of AWS CloudHSM, have no read-only sessions.
    for flags in mayWrite ? [CKF_RW_SESSION] : [0, CKF_RW_SESSION] {
      do throws(Failure) {
        try call { $0.C_OpenSession?(slot, CKF_SERIAL_SESSION | flags, nil, nil, &session) }
        break
      } catch {
        if flags != 0 { throw error }
      }
    }
    return session
  }

  /// A login applies to the whole token, so another session may have logged in earlier.
  private func logIn(
    _ place: Place, _ session: CK_SESSION_HANDLE, _ pin: SharedSecret?, _ uri: TokenURI
  ) throws(TokenError) {
    guard place.token.flags & CKF_LOGIN_REQUIRED != 0, let pin else { return }
    let token = withUnsafeBytes(of: place.token.serialNumber) { Array($0) }
    let isRefused = state.withLock { state in
      state.refused.contains { refused in
        refused.token == token
          && refused.pin.bytes.withUnsafeBytes { old in pin.bytes.withUnsafeBytes { constantTimeEqual(old, $0) } }
      }
    }
    guard !isRefused else {
      throw .refused(
        "\(uri.path): the token refused this PIN before; it is not tried again, since the token could lock itself")
    }
    do {
      try pin.bytes.withUnsafeBytes { bytes throws(Failure) in
        let text = UnsafeMutablePointer(mutating: bytes.baseAddress?.assumingMemoryBound(to: UInt8.self))
        try call { $0.C_Login?(session, CKU_USER, text, CK_ULONG(bytes.count)) }
      }
    } catch {
      switch error.status {
      case CKR_USER_ALREADY_LOGGED_IN: return
      case CKR_PIN_INCORRECT, CKR_PIN_INVALID, CKR_PIN_LEN_RANGE, CKR_PIN_LOCKED, CKR_PIN_EXPIRED:
        state.withLock { $0.refused.append((token, pin)) }
        throw .refused("\(uri.path): the token refuses the PIN: \(error.text)")
      default: throw .away("\(uri.path): the token refuses the login: \(error.text)")
      }
    }
  }

  // MARK: Sessions

  /// Runs the body in a session of this location. If the location's life is over, or ends with the body's failure,
  /// throws nil.
  func use<R>(_ place: Place, _ body: (CK_SESSION_HANDLE) throws(Failure) -> R) throws(Failure) -> R? {
    guard access.takeShared() else { throw Failure(status: CKR_FUNCTION_FAILED) }
    do throws(Failure) {
      defer { access.giveBack() }
      guard state.withLock({ $0.life == place.life }) else { return nil }
      let idle = state.withLock { $0.idle[place.slot]?.popLast() }
      let session = if let idle { idle } else { try open(place.slot, false) }
      do throws(Failure) {
        let result = try body(session)
        keep(session, place)
        return result
      } catch {
        keep(session, nil)
        throw error
      }
    } catch {
      guard error.isLoss, access.takeAlone() else { throw error }
      end(place.life)
      access.giveBack()
      return nil
    }
  }

  /// Stores a session for later calls; nil closes it.
  private func keep(_ session: CK_SESSION_HANDLE, _ place: Place?) {
    let isKept = place.map { place in
      state.withLock { state in
        guard state.life == place.life, state.idle[place.slot]?.count ?? 0 < Limits.tokenThreads else { return false }
        state.idle[place.slot, default: []].append(session)
        return true
      }
    }
    if isKept != true { try? call { $0.C_CloseSession?(session) } }
  }
}

/// A lock that calls share. The beginning of a new life takes it exclusively. Waits are bounded. While a caller waits
/// for exclusive use, no other call begins, so that a busy token cannot block a reload.
private final class SharedAccess: Sendable {
  private struct State {
    var sharing = 0
    var isAlone = false
    var waiting = 0
  }

  private let state = Locked(State())

  func takeShared() -> Bool {
    wait { state in
      guard !state.isAlone, state.waiting == 0 else { return false }
      state.sharing += 1
      return true
    }
  }

  func takeAlone() -> Bool {
    state.withLock { $0.waiting += 1 }
    defer { state.withLock { $0.waiting -= 1 } }
    return wait { state in
      guard !state.isAlone, state.sharing == 0 else { return false }
      state.isAlone = true
      return true
    }
  }

  func giveBack() {
    state.withLock { state in
      if state.isAlone { state.isAlone = false } else { state.sharing -= 1 }
    }
  }

  private func wait(_ take: (inout State) -> Bool) -> Bool {
    let end = Deadline(in: Limits.tokenWait)
    while !state.withLock({ take(&$0) }) {
      guard !end.isPast else { return false }
      Deadline(in: .milliseconds(1)).sleep()
    }
    return true
  }
}
