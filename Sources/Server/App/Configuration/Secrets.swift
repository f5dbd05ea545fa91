import Base
import Cryptography
import Glibc

/// Reads secrets of the configuration: the name of a file, `{"file": "…"}` or `{"env": "NAME"}`. A private key may have
/// a `passphrase` as well, which is itself a secret.
struct ConfiguredSecrets {
  let file: ConfigurationFile
  let environment: EnvironmentSecrets

  /// A private key's bytes, and the passphrase that decrypts them; nil if there is none.
  struct Key {
    let secret: Secret
    let passphrase: Secret?
  }

  func secret(_ json: JSON, at pointer: String) throws(Schema.Fault) -> Secret {
    if let name = json.string { return try content(of: name, at: pointer) }
    return try place(json, at: pointer, ConfigurationSchema.variable, ConfigurationSchema.secretFile).secret
  }

  /// Reads a private key. The schemas of a variable and of a file may have further members, which the caller reads.
  func key(
    _ json: JSON, at pointer: String, in variable: Schema.Member = ConfigurationSchema.encryptedVariable,
    _ file: Schema.Member = ConfigurationSchema.encryptedFile
  ) throws(Schema.Fault) -> Key {
    if let name = json.string { return Key(secret: try content(of: name, at: pointer), passphrase: nil) }
    let (secret, entry) = try place(json, at: pointer, variable, file)
    guard let phrase = entry.value("passphrase") else { return Key(secret: secret, passphrase: nil) }
    return Key(secret: secret, passphrase: try self.secret(phrase, at: pointer + "/passphrase"))
  }

  private func place(
    _ json: JSON, at pointer: String, _ variable: Schema.Member, _ named: Schema.Member
  ) throws(Schema.Fault) -> (secret: Secret, entry: Schema.Object) {
    guard let members = json.object, members.contains(where: { $0.name == "env" || $0.name == "file" }) else {
      throw Schema.Fault(pointer, "must be a file's name, {\"file\": \"…\"} or {\"env\": \"NAME\"}")
    }
    let isVariable = members.contains { $0.name == "env" }
    let entry = try Schema.Object(
      json, at: pointer, by: (isVariable ? variable : named).schema, in: file.reading)
    guard isVariable else { return (try content(of: entry.text("file"), at: pointer + "/file"), entry) }
    let name = try entry.text("env")
    guard let secret = environment.take(name) else {
      throw entry.fault("env", "the variable \(name) is not set, or empty; it is read when the server starts")
    }
    return (secret, entry)
  }

  private func content(of name: String, at pointer: String) throws(Schema.Fault) -> Secret {
    guard !name.isEmpty else { throw Schema.Fault(pointer, "must be a file's name") }
    let path = file.resolve(name)
    file.requireProtectedFolder(around: path, at: pointer)
    do throws(SecretFile.Problem) {
      return Secret(name: path, isVariable: false, bytes: try SecretFile.read(path))
    } catch {
      throw Schema.Fault(pointer, error.text(path))
    }
  }
}

/// Takes secrets from the environment for the configuration: `{"env": "NAME"}`.
///
/// Each is taken once. Its bytes are overwritten, so that `/proc` no longer shows them, and the variable is removed, so
/// that no program the process starts and no log gets it. The secret is kept here for the next reading of the file.
final class EnvironmentSecrets: Sendable {
  private struct State {
    var taken: [String: Secret] = [:]
    var isClosed = false
  }

  private let state = Locked(State())

  /// Nil if the variable is not set or empty.
  func take(_ name: String) -> Secret? {
    state.withLock { state in
      if let secret = state.taken[name] { return secret }
      guard !state.isClosed, let value = getenv(name), value.pointee != 0 else { return nil }
      let content = UnsafeMutableRawBufferPointer(start: value, count: strlen(value))
      let secret = Secret(name: name, isVariable: true, bytes: SecretBytes(copying: content))
      explicit_bzero(value, content.count)
      unsetenv(name)
      state.taken[name] = secret
      return secret
    }
  }

  /// Leaves the environment alone from now on: other threads may read it, and `unsetenv` moves what they read.
  func close() { state.withLock { $0.isClosed = true } }
}

/// A secret, and the name of the place that it was read from.
final class Secret: Sendable {
  /// A path, or the name of a variable.
  let name: String
  /// Whether it was the text of a variable, not the content of a file.
  let isVariable: Bool
  let bytes: SecretBytes

  init(name: String, isVariable: Bool, bytes: consuming SecretBytes) {
    self.name = name
    self.isVariable = isVariable
    self.bytes = bytes
  }

  /// The secret as a passphrase. An editor may have added a line end, which is not part of it.
  func withoutLineEnd() -> SecretBytes {
    bytes.withUnsafeBytes { bytes in
      var end = bytes.count
      if end > 0, bytes[end - 1] == UInt8(ascii: "\n") { end -= 1 }
      if end > 0, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
      return SecretBytes(copying: bytes[..<end])
    }
  }
}

/// Reads a file that holds a secret into memory that is wiped. Refuses the file if other users could read it.
enum SecretFile {
  enum Problem: Error, Equatable {
    /// The reason, as text for people.
    case unreadable(String)
    case wrongSize
    /// The owner is neither root nor the user that the server runs as.
    case foreign
    /// The permissions let others read or change it.
    case open

    func text(_ path: String) -> String {
      switch self {
      case .unreadable(let reason): "the file \(path) cannot be read: \(reason)"
      case .wrongSize: "the file \(path) is empty or larger than 1 MiB"
      case .foreign: "the file \(path) belongs to another user; chown it to the server's user or to root"
      case .open: "others can read or write the file \(path); chmod 600 it"
      }
    }
  }

  /// Checks owner and permissions on the open file, so that they belong to the bytes that are read even if the name now
  /// leads to another file.
  static func read(_ path: String) throws(Problem) -> SecretBytes {
    // Without O_NONBLOCK a pipe would hold up the start until somebody writes to it.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw .unreadable(FileFault.reason(errno)) }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .unreadable(FileFault.reason(errno)) }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw .unreadable(status.st_mode & S_IFMT == S_IFDIR ? FileFault.reason(EISDIR) : "is no regular file")
    }
    try check(owner: status.st_uid, mode: status.st_mode, user: geteuid())
    guard (1...(1 << 20)).contains(status.st_size) else { throw .wrongSize }
    do throws(CryptoError) {
      return try SecretBytes(count: Int(status.st_size)) { buffer throws(CryptoError) in
        var filled = 0
        while filled < buffer.count {
          let count = Glibc.read(descriptor, buffer.baseAddress?.advanced(by: filled), buffer.count - filled)
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { throw .libraryFailure }
          filled += count
        }
      }
    } catch {
      throw .unreadable("it ended too early, or there is no memory for it")
    }
  }

  /// A file of root may be readable by its group. The credentials of systemd are: their access list for the service's
  /// user shows as group permissions. So are the secrets that containers mount.
  static func check(owner: uid_t, mode: mode_t, user: uid_t) throws(Problem) {
    guard owner == user || owner == 0 else { throw .foreign }
    let refused = owner == 0 ? S_IWGRP | S_IRWXO : S_IRWXG | S_IRWXO
    guard mode & refused == 0 else { throw .open }
  }
}
