import App
import Base
import FoundationEssentials
import Glibc

/// Writes the folder as a whole: beside its place, checked there, and then moved.
extension ConfigurationFolder {
  /// - Throws: if the folder exists, or if a server would not start with what was chosen. Nothing is left then.
  func write(to folder: String) throws(Failure) {
    guard !FileAccess.exists(folder) else {
      throw .unreadable("\(folder): is there already, and nothing in it was changed; name a new folder")
    }
    let draft = "\(folder).\(getpid()).new"
    try FileAccess.makeNewFolder(draft)
    var isPlaced = false
    defer { if !isPlaced { try? FileManager.default.removeItem(atPath: draft) } }
    try FileAccess.makeNewFolder(draft + "/keys", mode: 0o700)
    try FileAccess.makeNewFolder(draft + "/trust")
    for file in files {
      let path = "\(draft)/\(file.name)"
      if file.isSecret {
        try FileAccess.writeSecret(file.bytes, to: path)
      } else {
        try FileAccess.writeNew(file.bytes, to: path)
      }
    }
    try check(draft, as: folder)
    // A rename takes the place of an empty folder at most.
    guard rename(draft, folder) == 0 else { throw .unreadable("\(folder): can't be made: \(FileAccess.reason(errno))") }
    isPlaced = true
  }

  /// Checks the configuration as `--check-config` does. That it has no anchor yet is no fault where none was given.
  private func check(_ draft: String, as folder: String) throws(Failure) {
    let problems = ConfigurationCheck(path: draft + "/mdoc.json").problems.filter {
      !choices.anchors.isEmpty || $0.pointer != "/trust"
    }
    guard let problem = problems.first else { return }
    let detail = problem.detail.replacing(draft, with: folder)
    guard let option = Self.options.first(where: { problem.pointer.hasPrefix($0.pointer) })?.option else {
      throw .configuration("\(folder)/mdoc.json: \(problem.pointer): \(detail)")
    }
    throw .usage("--\(option): \(detail)")
  }

  /// The options from which members of the configuration come.
  private static let options: [(pointer: String, option: String)] = [
    ("/listen", "listen"), ("/public_url", "public-url"), ("/trusted_proxies", "proxy"), ("/trust", "trust"),
    ("/relying_parties/0/id", "relying-party"), ("/relying_parties/0/origins", "origin"),
    ("/relying_parties/0/apple/merchant_id", "apple-merchant"), ("/relying_parties/0/apple/team_id", "apple-team"),
  ]
}
