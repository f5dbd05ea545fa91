import Base
import FoundationEssentials
import Glibc

/// Checks that only root and the server's user can change a file or folder.
///
/// Anyone with write access to a folder can replace its files, unless the folder has the sticky bit (like `/tmp`).
enum ProtectedPath {
  /// Describes each fault and its remedy. Covers the path, its parent folders and links, and a folder's entries.
  static func problems(at path: String) -> [String] {
    guard let facts = facts(path) else { return [] }
    var problems = problemsAround(path)
    if let own = problem(path, facts, isAround: false), !problems.contains(own) { problems.append(own) }
    guard isFolder(facts) else { return problems }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    for name in names.sorted() {
      let entry = path.hasSuffix("/") ? path + name : path + "/" + name
      if let found = self.facts(entry).flatMap({ problem(entry, $0, isAround: false) }) { problems.append(found) }
    }
    return problems
  }

  /// Describes the faults of all parent folders up to the root, and of links among them.
  static func problemsAround(_ path: String) -> [String] {
    let written = foldersAround(path)
    var seen: [stat] = []
    let folders = (written + (real(path).map(foldersAround) ?? [])).compactMap { folder -> String? in
      guard let facts = facts(folder), !seen.contains(where: { isSame($0, facts) }) else { return nil }
      seen.append(facts)
      return problem(folder, facts, isAround: true)
    }
    return folders + ([path] + written).compactMap(linkProblem)
  }

  /// The owner of a link can change its target.
  private static func linkProblem(_ path: String) -> String? {
    var facts = stat()
    guard lstat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFLNK, facts.st_uid != 0, facts.st_uid != geteuid()
    else { return nil }
    return
      "the link \(path) belongs to user \(facts.st_uid), who could change it; "
      + "chown -h it to the server's user or to root"
  }

  private static func isSame(_ left: stat, _ right: stat) -> Bool {
    left.st_dev == right.st_dev && left.st_ino == right.st_ino
  }

  /// Describes the faults of a file's owner and mode, for a server that runs as `user`. `isAround` is true for a parent
  /// folder.
  static func problem(
    _ path: String, owner: uid_t, mode: mode_t, user: uid_t, isAround: Bool, isReadOnly: Bool
  ) -> String? {
    let what = mode & S_IFMT == S_IFDIR ? "the folder" : "the file"
    let isSticky = mode & S_IFMT == S_IFDIR && mode & S_ISVTX != 0
    if isSticky, isAround || (owner == 0 && isReadOnly) { return nil }
    guard owner == user || owner == 0 else {
      return "\(what) \(path) belongs to user \(owner), who could change it; chown it to the server's user or to root"
    }
    guard mode & (S_IWGRP | S_IWOTH) != 0 else { return nil }
    let who = mode & S_IWOTH != 0 ? "everybody" : "its group"
    let digits = String(mode & 0o7777, radix: 8)
    return "\(what) \(path) has mode \(digits), so that \(who) can change it; chmod go-w \(path)"
  }

  private static func problem(_ path: String, _ facts: stat, isAround: Bool) -> String? {
    problem(
      path, owner: facts.st_uid, mode: facts.st_mode, user: geteuid(), isAround: isAround,
      isReadOnly: isOnReadOnlyMount(path))
  }

  /// Kubernetes mounts secrets and configuration maps read-only, in folders with owner root and mode 1777.
  private static func isOnReadOnlyMount(_ path: String) -> Bool {
    var facts = statvfs()
    return statvfs(path, &facts) == 0 && facts.f_flag & UInt(ST_RDONLY) != 0
  }

  /// The parent folders of the path, from the nearest to the root.
  private static func foldersAround(_ path: String) -> [String] {
    var folders = [folder(of: path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path)]
    while let last = folders.last, last != "/" { folders.append(folder(of: last)) }
    return folders
  }

  private static func real(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func folder(of path: String) -> String {
    var path = Substring(path)
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  private static func facts(_ path: String) -> stat? {
    var facts = stat()
    return stat(path, &facts) == 0 ? facts : nil
  }

  private static func isFolder(_ facts: stat) -> Bool { facts.st_mode & S_IFMT == S_IFDIR }
}

extension Faults {
  /// Records each fault that lets other users change the path.
  mutating func requireProtection(of path: String, at pointer: String) {
    for detail in ProtectedPath.problems(at: path) { add(pointer, detail) }
  }

  /// Checks only the parent folders of a file, since the file may not exist yet.
  mutating func requireProtectedFolder(around path: String, at pointer: String) {
    for detail in ProtectedPath.problemsAround(path) { add(pointer, detail) }
  }
}
