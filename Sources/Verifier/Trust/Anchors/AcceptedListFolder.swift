import Base
import Cryptography
import FoundationEssentials
import Glibc

/// Stores the last accepted list of each source. Older lists are thus refused. A server can start while publishers are
/// unreachable.
public struct AcceptedListFolder: Sendable {
  private let folder: String

  /// The folder is created when the first list is stored.
  public init(_ folder: String) { self.folder = folder }

  public struct Accepted: Sendable, Hashable {
    /// The list as received.
    public let bytes: [UInt8]
    public let mark: AcceptedListMark
  }

  /// The last accepted list. Nil only if no file of this name exists, which means that no list of the source was ever
  /// accepted.
  public func last(of source: String) throws(AcceptedListError) -> Accepted? {
    let path = try path(of: source)
    let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw AcceptedListError("\(source).accepted: cannot read the last accepted list: \(Self.reason())")
    }
    defer { close(descriptor) }
    guard let file = Self.read(descriptor), let accepted = Self.decode(file) else {
      throw AcceptedListError(
        "\(source).accepted: the last accepted list is damaged; restore the file, or remove it to start without one")
    }
    return accepted
  }

  /// Stores the list durably. If the program crashes before the end, the previous list remains. A stored list with a
  /// later issue date is not replaced, since a concurrent load of an older list may end last.
  public func remember(_ accepted: Accepted, of source: String) throws(AcceptedListError) {
    pthread_mutex_lock(Self.turns)
    defer { pthread_mutex_unlock(Self.turns) }
    if let last = try last(of: source), last.mark.issued > accepted.mark.issued { return }
    try write(accepted, of: source)
  }

  // One lock for the process is enough, since only one server uses a folder. The lock is made once, never freed, and
  // used only as a mutex.
  nonisolated(unsafe) private static let turns = {
    let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(mutex, nil)
    return mutex
  }()

  private func write(_ accepted: Accepted, of source: String) throws(AcceptedListError) {
    let path = try path(of: source)
    let isMade = mkdir(folder, 0o700) == 0
    removeLeftovers(of: source)
    // No other writer uses this name, in this process or another.
    let temporary = "\(folder)/\(source).\(getpid())-\(UInt64.random(in: 0 ... .max))\(Self.unfinished)"
    guard Self.write(Self.encode(accepted), toNewFile: temporary), rename(temporary, path) == 0,
      Self.sync(folder: folder), !isMade || Self.sync(folder: folder + "/..")
    else {
      let reason = Self.reason()
      unlink(temporary)
      throw AcceptedListError("\(source).accepted: cannot store the last accepted list: \(reason)")
    }
  }

  /// Refuses a name that would lead out of the folder.
  private func path(of source: String) throws(AcceptedListError) -> String {
    let isName = !source.isEmpty && source.utf8.allSatisfy { Self.nameCharacters.contains($0) }
    guard isName else { throw AcceptedListError("\"\(source)\": not a valid source name") }
    return "\(folder)/\(source).accepted"
  }

  /// Removes the unfinished files that a crash left.
  private func removeLeftovers(of source: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasPrefix(source + ".") && name.hasSuffix(Self.unfinished) {
      unlink("\(folder)/\(name)")
    }
  }

  private static let unfinished = ".new"
  private static let nameCharacters = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.".utf8)

  // MARK: One file: a line of JSON, then the list

  private static func encode(_ accepted: Accepted) -> [UInt8] {
    let head: JSON = .members([
      "issued": .integer(accepted.mark.issued.secondsSince1970),
      "number": accepted.mark.number.map { .string(String($0)) },
      "digest": .string(Hex.encode(accepted.mark.digest)),
      "sha256": .string(Hex.encode(HashAlgorithm.sha256.hash(accepted.bytes))),
    ])
    return head.serialized() + [UInt8(ascii: "\n")] + accepted.bytes
  }

  private static func decode(_ file: [UInt8]) -> Accepted? {
    guard let end = file.firstIndex(of: UInt8(ascii: "\n")), let head = try? JSON(parsing: Array(file[..<end])),
      let issued = head["issued"]?.integer, let digest = head["digest"]?.string.flatMap(Hex.decode)
    else { return nil }
    let bytes = Array(file[(end + 1)...])
    guard head["sha256"]?.string == Hex.encode(HashAlgorithm.sha256.hash(bytes)) else { return nil }
    let number = head["number"]?.string
    guard number == nil || number.flatMap({ UInt64($0) }) != nil else { return nil }
    return Accepted(
      bytes: bytes,
      mark: AcceptedListMark(
        issued: Timestamp(secondsSince1970: issued), number: number.flatMap { UInt64($0) }, digest: digest))
  }

  // MARK: The file system

  /// The file's bytes; nil if it is unreadable, or larger than the longest list with its head.
  private static func read(_ descriptor: Int32) -> [UInt8]? {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 1 << 16)
    while bytes.count <= Limits.listBytes + chunk.count {
      let count = Glibc.read(descriptor, &chunk, chunk.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return nil }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
    return nil
  }

  private static func write(_ bytes: [UInt8], toNewFile path: String) -> Bool {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return write(bytes, to: descriptor)
  }

  /// True if all bytes are on disk.
  static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    var rest = bytes[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written < 0 && errno == EINTR { continue }
      guard written > 0 else { return false }
      rest = rest.dropFirst(written)
    }
    return fsync(descriptor) == 0
  }

  private static func sync(folder: String) -> Bool {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return false }
    defer { close(descriptor) }
    return fsync(descriptor) == 0
  }

  private static func reason() -> String { String(cString: strerror(errno)) }
}

/// The reason why the stored list cannot be used. No list is then accepted. API clients see the file's name, but not
/// the folder's.
public struct AcceptedListError: Error, Sendable, CustomStringConvertible {
  public let description: String

  init(_ description: String) { self.description = description }
}
