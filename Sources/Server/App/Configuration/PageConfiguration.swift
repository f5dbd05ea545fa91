import Base
import Sessions

/// Reads `page` of a relying party.
///
/// ```json
/// { "page": { "name": "Example Shop", "color": "#0b57d0", "logo": "logo.svg" } }
/// ```
struct ConfiguredPage {
  private static let nameCharacters = 1...80
  private static let logoBytes = 100_000
  /// Media types by the ends of file names.
  private static let logoTypes = [
    "svg": "image/svg+xml", "png": "image/png", "webp": "image/webp", "jpg": "image/jpeg", "jpeg": "image/jpeg",
  ]

  let file: ConfigurationFile

  /// Nil if the relying party has none.
  func page(of party: Schema.Object) throws(Schema.Fault) -> HostedPage? {
    guard let entry = try party.object("page") else { return nil }
    let name = try entry.text("name")
    guard Self.nameCharacters.contains(name.count) else {
      throw entry.fault("name", "must have at most \(Self.nameCharacters.upperBound) characters")
    }
    return HostedPage(
      name: name, color: try entry.ifAny("color", { name throws(Schema.Fault) in try color(entry, name) }),
      logo: try entry.ifAny("logo", { name throws(Schema.Fault) in try logo(entry, name) }),
      privacyURL: try entry.ifAny("privacy_url", { name throws(Schema.Fault) in try address(entry, name) }))
  }

  private func color(_ entry: Schema.Object, _ name: String) throws(Schema.Fault) -> String {
    let text = try entry.text(name)
    guard text.wholeMatch(of: /#[0-9a-f]{6}/) != nil else {
      throw entry.fault(name, "must be #rrggbb in lower case")
    }
    return text
  }

  private func logo(_ entry: Schema.Object, _ name: String) throws(Schema.Fault) -> HostedPage.Logo {
    let path = try entry.text(name)
    let end = path.split(separator: ".").last.map { $0.lowercased() } ?? ""
    guard let mediaType = Self.logoTypes[end] else {
      throw entry.fault(name, "must end in \(Self.logoTypes.keys.sorted().map { "." + $0 }.joined(separator: ", "))")
    }
    let bytes = try file.read(path, at: entry.pointer + "/" + name)
    guard bytes.count <= Self.logoBytes else {
      throw entry.fault(name, "has \(bytes.count) bytes; at most \(Self.logoBytes) are allowed")
    }
    return HostedPage.Logo(mediaType: mediaType, bytes: bytes)
  }

  private func address(_ entry: Schema.Object, _ name: String) throws(Schema.Fault) -> String {
    let text = try entry.text(name)
    guard text.hasPrefix("https://"), text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f }) else {
      throw entry.fault(name, "must be an https address")
    }
    return text
  }
}
