import Base
import Testing

@testable import Sessions

@Suite("A client secret")
struct ClientSecretTests {
  @Test("says whose it is, and those of before do not")
  func session() throws {
    let id = try SessionID.random()
    let secret = try ClientSecret.random(of: id)
    #expect(secret.text.hasPrefix("vcs_") && secret.text.count == 69)
    #expect(ClientSecret(secret.text)?.session == id)
    let before = "vcs_" + secret.text.suffix(43)
    #expect(ClientSecret(before) != nil && ClientSecret(before)?.session == nil)
    for wrong in ["vcs_", "vcs_" + secret.text.suffix(44), secret.text + "a", "vrc_" + secret.text.dropFirst(4)] {
      #expect(ClientSecret(wrong) == nil)
    }
    #expect(try ClientSecret.random(of: id).text != secret.text)
  }

  @Test("opens its own session, only with all of its characters")
  func others() async throws {
    let fixture = try Fixture()
    let first = try await fixture.service.createSession(Fixture.creation, as: fixture.full).body
    let second = try await fixture.service.createSession(Fixture.creation, as: fixture.full).body
    let mine = try #require(first["client_secret"]?.string)
    let other = try #require(second["client_secret"]?.string)
    guard case .clientSecret(let id, _) = try await fixture.service.authenticate(bearer: mine) else {
      Issue.record("no client secret")
      return
    }
    #expect(id.text == first["id"]?.string)
    // Another session's name with this secret's characters, and the reverse; and one with a wrong last character.
    let mixed = [
      other.prefix(26) + mine.suffix(43), mine.prefix(26) + other.suffix(43), mine.dropLast() + "!",
      "vcs_" + mine.suffix(43),
    ]
    for wrong in mixed {
      await #expect { try await fixture.service.authenticate(bearer: String(wrong)) } throws: {
        ($0 as? ServiceError)?.code == .apiUnauthenticated
      }
    }
  }
}
