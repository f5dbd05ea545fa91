import Base
import FoundationEssentials
import Pages
import Sessions

/// The articles as HTML, from one folder (`.deploy/html/make`, or the package's `/usr/share/doc/mdoc/html`). All files
/// are read into memory at the start, so a request's path never reaches the file system.
package struct DocumentationSite: Sendable {
  /// The folder of the Debian package.
  package static let packaged = "/usr/share/doc/mdoc/html"
  static let mostFiles = 1000
  static let mostBytes = 32 << 20

  private let files: [String: File]

  struct File: Sendable {
    let mediaType: String
    let bytes: [UInt8]
  }

  package struct Fault: Error, CustomStringConvertible {
    package let description: String
  }

  /// Reads the files of known types, but no subfolders. Follows links: the folder's owner chooses their targets.
  package init(folder: String) throws(Fault) {
    guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else {
      throw Fault(description: "\(folder) is not a readable folder")
    }
    let known = names.compactMap { name in Self.mediaType(of: name).map { (name, $0) } }
    guard known.contains(where: { $0.0 == "index.html" }) else {
      throw Fault(description: "\(folder) has no index.html")
    }
    guard known.count <= Self.mostFiles else {
      throw Fault(description: "\(folder) has more than \(Self.mostFiles) files")
    }
    var files: [String: File] = [:]
    var left = Self.mostBytes
    for (name, mediaType) in known {
      let path = folder + "/" + name
      let size = (try? FileManager.default.attributesOfItem(atPath: path))?[.size] as? Int
      guard let size, size <= left, let bytes = FileManager.default.contents(atPath: path) else {
        throw Fault(description: "\(path) cannot be read, or the files have more than \(Self.mostBytes >> 20) MiB")
      }
      left -= size
      files[name] = File(mediaType: mediaType, bytes: Array(bytes))
    }
    self.files = files
  }

  subscript(name: String) -> File? { files[name] }

  private static func mediaType(of name: String) -> String? {
    switch name.split(separator: ".").last {
    case "html": "text/html; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "js": "text/javascript; charset=utf-8"
    case "svg": "image/svg+xml"
    case "png": "image/png"
    default: nil
    }
  }
}

/// `/docs`: the articles, if the configuration sets their folder.
enum DocumentationRoutes {
  static let all = [
    Route(
      .get, "/docs", "getDocumentation", "The articles.", access: .anyone,
      success: .content(PageAsset.page.mediaType), problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      try redirect(to: "index.html", call)
    },
    Route(
      .get, "/docs/{file}", "getDocumentationFile", "A file of the articles.", access: .anyone,
      success: .content(PageAsset.page.mediaType), problems: [.apiNotFound]
    ) { call throws(ServiceError) in
      let name = call.parameters["file"] ?? ""
      if name == "api" { return try redirect(to: "ReferenceAPI.html", call) }
      let file = try file(name, call)
      var reply = Reply(file.mediaType, file.bytes)
      reply.headers += [
        ("Content-Security-Policy", policy), ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
      ]
      return reply
    },
  ]

  private static let policy =
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; "
    + "frame-ancestors 'none'"

  private static func redirect(to name: String, _ call: RouteCall) throws(ServiceError) -> Reply {
    _ = try file(name, call)
    var reply = Reply(302, json: [:])
    reply.headers.append(("Location", "/docs/\(name)"))
    return reply
  }

  private static func file(_ name: String, _ call: RouteCall) throws(ServiceError) -> DocumentationSite.File {
    guard let file = call.application.documentation?[name] else { throw ServiceError(.apiNotFound) }
    return file
  }
}
