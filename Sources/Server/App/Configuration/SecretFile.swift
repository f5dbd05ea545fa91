import Base
import Cryptography
import Glibc

/// A secret as it was read, with what people call the place that it came from.
final class Secret: Sendable {
  /// A path, or the name of a variable.
  let name: String
  /// Whether it is text of the environment rather than the content of a file.
  let isVariable: Bool
  let bytes: SecretBytes

  init(name: String, isVariable: Bool, bytes: consuming SecretBytes) {
    self.name = name
    self.isVariable = isVariable
    self.bytes = bytes
  }

  /// A passphrase: a line end after it is the editor's and not part of it.
  func withoutLineEnd() -> SecretBytes {
    bytes.withUnsafeBytes { bytes in
      var end = bytes.count
      if end > 0, bytes[end - 1] == UInt8(ascii: "\n") { end -= 1 }
      if end > 0, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
      return SecretBytes(copying: bytes[..<end])
    }
  }
}

/// Reads a file with a secret in it, if nobody else can, into memory that is wiped.
enum SecretFile {
  enum Problem: Error, Equatable {
    /// Why, for people.
    case unreadable(String)
    case wrongSize
    /// Of somebody else than root or the user that the server runs as.
    case foreign
    /// Permissions that let others read or change it.
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

  /// The file's owner and permissions are those of the file that is read, whatever becomes of its name meanwhile.
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

  /// A file of root's may be readable by its group: so are the credentials of systemd, whose list of rights for the
  /// service's user shows as the group's, and the secrets that containers mount.
  static func check(owner: uid_t, mode: mode_t, user: uid_t) throws(Problem) {
    guard owner == user || owner == 0 else { throw .foreign }
    let refused = owner == 0 ? S_IWGRP | S_IRWXO : S_IRWXG | S_IRWXO
    guard mode & refused == 0 else { throw .open }
  }
}
