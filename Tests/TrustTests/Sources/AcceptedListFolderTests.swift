import Base
import FoundationEssentials
import Glibc
import Testing

@testable import Trust

/// The memory of the last accepted lists: complete or an error, never silently empty.
@Suite struct AcceptedListFolderTests {
  private let fixture: TrustFixture
  private var path: String { fixture.folder + "/state" }
  private var folder: AcceptedListFolder { AcceptedListFolder(path) }
  private let first = AcceptedListFolder.Accepted(
    bytes: [1, 10, 2],
    mark: AcceptedListMark(issued: Timestamp(secondsSince1970: 1_795_000_000), number: .max, digest: [7, 8]))
  private let second = AcceptedListFolder.Accepted(
    bytes: Array(repeating: 0x0a, count: 200_000),
    mark: AcceptedListMark(issued: Timestamp(secondsSince1970: 1_795_000_001), number: nil, digest: []))

  init() throws { fixture = try TrustFixture() }

  @Test func `Before the first list there is none, and then it is there after a restart`() throws {
    #expect(try folder.last(of: "aamva") == nil)
    try folder.remember(first, of: "aamva")
    #expect(try AcceptedListFolder(path).last(of: "aamva") == first)
    try folder.remember(second, of: "aamva")
    #expect(try AcceptedListFolder(path).last(of: "aamva") == second)
    #expect(try folder.last(of: "eu") == nil)
  }

  @Test func `An older list that comes last is not remembered`() throws {
    try folder.remember(second, of: "aamva")
    try folder.remember(first, of: "aamva")
    #expect(try folder.last(of: "aamva") == second)
  }

  @Test func `Only its owner may read it`() throws {
    try folder.remember(first, of: "aamva")
    for name in ["", "/aamva.accepted"] {
      var facts = stat()
      try #require(stat(path + name, &facts) == 0)
      #expect(facts.st_mode & 0o077 == 0)
    }
  }

  @Test(arguments: [
    "", "{}", "{}\n", "not json\nlist", #"{"issued":1,"digest":"","number":null,"sha256":"00"}"# + "\nlist",
  ])
  func `What is damaged is a fault, and not nothing`(content: String) throws {
    try folder.remember(first, of: "aamva")
    try Data(content.utf8).write(to: URL(filePath: path + "/aamva.accepted"))
    #expect(throws: AcceptedListError.self) { try folder.last(of: "aamva") }
  }

  @Test func `Each byte that is changed, left out or added is a fault`() throws {
    try folder.remember(first, of: "aamva")
    let file = path + "/aamva.accepted"
    let good = try [UInt8](Data(contentsOf: URL(filePath: file)))
    let list = try #require(good.firstIndex(of: 0x0a)) + 1
    var damaged = [Array(good.dropLast()), good + [0], Array(good[..<list])]
    for index in list..<good.count {
      var copy = good
      copy[index] ^= 1
      damaged.append(copy)
    }
    for bytes in damaged {
      try Data(bytes).write(to: URL(filePath: file))
      #expect(throws: AcceptedListError.self) { try folder.last(of: "aamva") }
    }
    try Data(good).write(to: URL(filePath: file))
    #expect(try folder.last(of: "aamva") == first)
  }

  @Test func `A link, a folder and a folder's way that can't be gone are faults`() throws {
    try folder.remember(first, of: "aamva")
    try #require(symlink("nowhere", path + "/link.accepted") == 0)
    try #require(mkdir(path + "/dir.accepted", 0o700) == 0)
    for name in ["link", "dir"] {
      #expect(throws: AcceptedListError.self) { try folder.last(of: name) }
    }
    // A file where the folder should be.
    let file = AcceptedListFolder(path + "/aamva.accepted")
    #expect(throws: AcceptedListError.self) { try file.last(of: "aamva") }
    #expect(throws: AcceptedListError.self) { try file.remember(first, of: "aamva") }
  }

  @Test func `What can't be written leaves the one before, and nothing beside it`() throws {
    try folder.remember(first, of: "aamva")
    // A folder cannot be replaced by a file: only the last step fails.
    try #require(mkdir(path + "/dir.accepted", 0o700) == 0)
    #expect(throws: AcceptedListError.self) { try folder.remember(second, of: "dir") }
    #expect(try folder.last(of: "aamva") == first)
    #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["aamva.accepted", "dir.accepted"])
    let absent = AcceptedListFolder(path + "/absent/absent")
    #expect(throws: AcceptedListError.self) { try absent.remember(first, of: "aamva") }
  }

  @Test func `A full disk is not taken for a written list`() throws {
    let full = open("/dev/full", O_WRONLY)
    try #require(full >= 0)
    defer { close(full) }
    #expect(!AcceptedListFolder.write([1], to: full))
  }

  @Test func `A crash between writing and renaming leaves the one before, and the next write cleans up`() throws {
    try folder.remember(first, of: "aamva")
    try folder.remember(second, of: "aamva.old")
    try Data([1, 2, 3]).write(to: URL(filePath: path + "/aamva.77-1.new"))
    #expect(try AcceptedListFolder(path).last(of: "aamva") == first)
    try folder.remember(second, of: "aamva")
    #expect(try folder.last(of: "aamva") == second)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["aamva.accepted", "aamva.old.accepted"])
    #expect(try folder.last(of: "aamva.old") == second)
  }

  @Test(arguments: ["", "../aamva", "a/b", "a\0b", "ä"])
  func `A name can't lead out of the folder`(name: String) {
    #expect(throws: AcceptedListError.self) { try folder.remember(first, of: name) }
    #expect(throws: AcceptedListError.self) { try folder.last(of: name) }
  }

  @Test func `Many writers at once leave one whole list`() async throws {
    let folder = folder
    try folder.remember(first, of: "aamva")
    let lists = (0..<8).map { index in
      AcceptedListFolder.Accepted(
        bytes: Array(repeating: UInt8(index), count: 100_000),
        mark: AcceptedListMark(issued: first.mark.issued, number: nil, digest: []))
    }
    await withTaskGroup(of: Void.self) { group in
      for list in lists { group.addTask { try? folder.remember(list, of: "aamva") } }
    }
    let last = try #require(try folder.last(of: "aamva"))
    #expect((lists + [first]).contains(last))
  }
}
