import Base
import Sessions
import Testing

@testable import App

/// `page` of a relying party in the configuration file.
@Suite struct PageConfigurationTests {
  private static let logo = Array("<svg xmlns=\"http://www.w3.org/2000/svg\"/>".utf8)

  private func load(
    _ page: JSON, publicURL: JSON? = "https://id.example"
  ) async throws -> Result<ServerConfiguration, StartError> {
    try await withFolder { path in
      let folder = try LiveFolder(path)
      try folder.writeReader()
      try folder.write("logo.svg", Self.logo)
      try folder.write("large.png", [UInt8](repeating: 0, count: 100_001))
      var changes: [String: JSON] = ["relying_parties": [LiveFolder.partyWithReader([:], [.init("page", page)])]]
      changes["public_url"] = publicURL
      try folder.writeConfiguration(changes)
      return Result { () throws(StartError) in try ConfigurationLoader(path: path + "/mdoc.json").load() }
    }
  }

  @Test func `a page is read with its logo`() async throws {
    let page: JSON = [
      "name": "Café Ünion", "color": "#0a0b0c", "logo": "logo.svg", "logo_dark": "logo.svg",
      "privacy_url": "https://shop.example/privacy", "show_reason": true,
    ]
    let read = try await load(page).get().relyingParties["shop"]?.page
    #expect(
      read
        == HostedPage(
          name: "Café Ünion", color: "#0a0b0c", logo: .init(mediaType: "image/svg+xml", bytes: Self.logo),
          darkLogo: .init(mediaType: "image/svg+xml", bytes: Self.logo), privacyURL: "https://shop.example/privacy",
          showsReason: true))
    #expect(try await load(["name": "Shop"]).get().relyingParties["shop"]?.page == HostedPage(name: "Shop"))
    #expect(try await load(.null, publicURL: nil).get().relyingParties["shop"]?.page == nil)
  }

  @Test(
    arguments: [
      ([:], "name"), (["name": ""], "name"), (["name": .string(String(repeating: "x", count: 81))], "name"),
      (["name": "Shop", "color": "red"], "color"), (["name": "Shop", "color": "#FFFFFF"], "color"),
      (["name": "Shop", "color": "#fff;}"], "color"), (["name": "Shop", "logo": "mdoc.json"], "logo"),
      (["name": "Shop", "logo": "nowhere.png"], "logo"), (["name": "Shop", "logo": "large.png"], "logo"),
      (["name": "Shop", "logo_dark": "large.png"], "logo_dark"), (["name": "Shop", "show_reason": 1], "show_reason"),
      (["name": "Shop", "privacy_url": "javascript:alert(1)"], "privacy_url"),
      (["name": "Shop", "privacy_url": "https://a b"], "privacy_url"), (["name": "Shop", "css": "x"], "css"),
    ] as [(JSON, String)])
  func `a fault names its member`(page: JSON, member: String) async throws {
    guard case .failure(let error) = try await load(page) else {
      Issue.record("it was read")
      return
    }
    #expect(error.problems.map(\.pointer) == ["/relying_parties/0/page/\(member)"], "\(error.message)")
  }

  @Test func `a page needs to know where it is`() async throws {
    guard case .failure(let error) = try await load(["name": "Shop"], publicURL: nil) else {
      Issue.record("it was read")
      return
    }
    #expect(error.problems.map(\.pointer) == ["/public_url"])
  }
}
