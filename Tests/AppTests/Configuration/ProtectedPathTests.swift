import Base
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import App

/// Files that others could change are refused.
@Suite(.onOwnThreads) struct ProtectedPathTests {
  private static let file = S_IFREG
  private static let folder = S_IFDIR

  private static func problem(
    _ mode: mode_t, owner: uid_t = 7, isAround: Bool = false, isReadOnly: Bool = false
  ) -> String? {
    ProtectedPath.problem("/x", owner: owner, mode: mode, user: 7, isAround: isAround, isReadOnly: isReadOnly)
  }

  @Test func `its owner is root or the server's user, and nobody else may write to it`() {
    #expect(Self.problem(Self.file | 0o644) == nil && Self.problem(Self.file | 0o644, owner: 0) == nil)
    #expect(Self.problem(Self.folder | 0o755) == nil && Self.problem(Self.folder | 0o2750, owner: 0) == nil)
    #expect(
      Self.problem(Self.file | 0o664)
        == "the file /x has mode 664, so that its group can change it; chmod go-w /x")
    #expect(
      Self.problem(Self.folder | 0o777, owner: 0)
        == "the folder /x has mode 777, so that everybody can change it; chmod go-w /x")
    #expect(Self.problem(Self.file | 0o600, owner: 8)?.contains("belongs to user 8") == true)
  }

  @Test func `a sticky folder may be around a file, and be read where nobody can write to it`() {
    let shared = Self.folder | 0o1777
    #expect(Self.problem(shared, owner: 0, isAround: true) == nil)
    #expect(Self.problem(shared, owner: 0) != nil)
    #expect(Self.problem(shared, owner: 0, isReadOnly: true) == nil)
    #expect(Self.problem(shared, isReadOnly: true) != nil)
    #expect(Self.problem(Self.folder | 0o777, owner: 0, isReadOnly: true) != nil)
  }

  @Test func `a folder further up, and a hidden file, count as well`() async throws {
    try await withFolder { path in
      let inner = "\(path)/up/between/anchors"
      try FileManager.default.createDirectory(atPath: inner, withIntermediateDirectories: true)
      try Data("x".utf8).write(to: URL(filePath: "\(inner)/.hidden.pem"))
      for (name, mode) in [("up", 0o755), ("up/between", 0o755), ("up/between/anchors", 0o755)] {
        chmod("\(path)/\(name)", mode_t(mode))
      }
      chmod("\(inner)/.hidden.pem", 0o644)
      #expect(ProtectedPath.problems(at: inner) == [])
      chmod("\(path)/up", 0o777)
      #expect(ProtectedPath.problems(at: inner).contains { $0.contains("\(path)/up has mode 777") })
      chmod("\(path)/up", 0o755)
      chmod("\(inner)/.hidden.pem", 0o666)
      #expect(ProtectedPath.problems(at: inner).contains { $0.contains(".hidden.pem has mode 666") })
    }
  }

  /// Each path that a server trusts, made writable, with the member that names it.
  @Test(arguments: [
    ("mdoc.json", 0o664, ""), ("mdoc.json", 0o646, ""), ("trust", 0o775, "/trust"), ("trust", 0o1777, "/trust"),
    ("trust/iaca.pem", 0o664, "/trust"), ("signers", 0o775, "/trust/1/signer_anchors"),
    ("signers/root.pem", 0o664, "/trust/1/signer_anchors"), ("list.cbor", 0o666, "/trust/1/vical"),
    ("trust-state", 0o770, "/trust_state"), ("mdoc.sqlite", 0o660, "/store"), ("mdoc.sqlite-wal", 0o660, "/store"),
    ("tls-chain.pem", 0o664, "/tls/certificate"),
    ("reader-chain.pem", 0o664, "/relying_parties/0/readers/0/certificates"),
  ])
  func `what others can write to is refused by its member, with what mends it`(
    _ name: String, _ mode: Int, _ pointer: String
  ) async throws {
    try await withFolder { path in
      let folder = try Self.full(path)
      #expect(Self.problems(folder) == [])
      chmod("\(path)/\(name)", mode_t(mode))
      let found = Self.problems(folder).filter { $0.pointer == pointer }
      #expect(
        found.contains { $0.detail.contains("; chmod go-w ") && $0.detail.contains("\(path)/\(name)") }, "\(found)")
      let error = #expect(throws: StartError.self) { try folder.start() }
      #expect(error?.exitCode == 78)
      chmod("\(path)/\(name)", mode_t(mode & ~0o022))
      #expect(Self.problems(folder) == [])
    }
  }

  @Test func `the folder around them is as good as they are`() async throws {
    try await withFolder { path in
      let folder = try Self.full(path)
      chmod(path, 0o775)
      let pointers = Set(Self.problems(folder).map(\.pointer))
      #expect(pointers.isSuperset(of: ["", "/store", "/trust", "/sealing_keys/0/file", "/tls/key"]))
      chmod(path, 0o1777)
      #expect(Self.problems(folder) == [])
    }
  }

  @Test func `a link is as good as what it leads to`() async throws {
    try await withFolder { path in
      let folder = try Self.full(path)
      mkdir(path + "/elsewhere", 0o755)
      rename(path + "/mdoc.json", path + "/elsewhere/mdoc.json")
      symlink("elsewhere/mdoc.json", path + "/mdoc.json")
      #expect(Self.problems(folder) == [])
      chmod(path + "/elsewhere", 0o777)
      #expect(Self.problems(folder).contains { $0.pointer.isEmpty && $0.detail.contains("/elsewhere has mode 777") })
    }
  }

  @Test func `what the program makes itself is protected whatever the umask`() async throws {
    // It affects the whole process, so the test runs in its own process.
    await #expect(processExitsWith: .success) {
      umask(0o002)
      try await withFolder { path in
        let folder = try LiveFolder(path)
        chmod(path + "/trust", 0o755)
        await (try folder.start()).stop(drainSeconds: 0)
        #expect(ProtectedPath.problems(at: path + "/mdoc.sqlite") == [])
        await (try folder.start()).stop(drainSeconds: 0)
      }
    }
  }

  /// Behind a proxy on another machine, all clients share one address.
  @Test func `behind_proxy without trusted_proxies is warned of, by a check and by a start`() async throws {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      for (proxies, isWarned): (JSON, Bool) in [(.null, true), ([], true), (["10.0.0.0/8"], false)] {
        try folder.writeConfiguration(["behind_proxy": true, "trusted_proxies": proxies])
        let check = ConfigurationCheck(path: folder.configurationFile)
        #expect(check.problems == [])
        #expect(check.warnings.contains { $0.hasPrefix("behind_proxy without trusted_proxies") } == isWarned)
        try await folder.serve { _, _, log in
          #expect(log.text.contains("behind_proxy without trusted_proxies") == isWarned)
        }
      }
    }
  }

  // MARK: Steps

  private static func problems(_ folder: LiveFolder) -> [InputError] {
    ConfigurationCheck(path: folder.configurationFile).problems
  }

  /// A folder whose configuration names a file of every kind, and in which a server has run.
  private static func full(_ path: String) throws -> LiveFolder {
    let folder = try LiveFolder(path)
    try folder.writeReader()
    try folder.writeTLS()
    mkdir(path + "/signers", 0o755)
    mkdir(path + "/trust-state", 0o700)
    let anchor = try #require(FileManager.default.contents(atPath: path + "/trust/iaca.pem"))
    try folder.write("signers/root.pem", [UInt8](anchor))
    try folder.write("list.cbor", [0xa0])
    for name in ["mdoc.sqlite", "mdoc.sqlite-wal"] { try folder.write(name, []) }
    let reader: JSON = ["key": "reader.pem", "certificates": "reader-chain.pem"]
    let party = JSON.object((LiveFolder.party.object ?? []) + [.init("readers", [reader])])
    try folder.writeConfiguration([
      "trust": ["trust/", ["name": "list", "vical": "list.cbor", "signer_anchors": ["signers"]]],
      "tls": ["certificate": "tls-chain.pem", "key": "tls.pem"], "relying_parties": [party],
    ])
    return folder
  }
}
